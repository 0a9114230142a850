package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Accounts for every timer after concurrent changes to four shards with a rejecting listener. */
class ConcurrentAccountingTest {

  private static final int SHARDS = 4;
  private static final int THREADS = 4;
  private static final int IDS_PER_THREAD = 20_000;
  private static final int IDS = THREADS * IDS_PER_THREAD;

  private final ManualClock clock = new ManualClock(0);
  private final AtomicIntegerArray expired = new AtomicIntegerArray(IDS);
  private final AtomicIntegerArray cancelled = new AtomicIntegerArray(IDS);
  private final AtomicLong early = new AtomicLong();

  /** The number of batches offered to the listener. Used by the worker only. */
  private int offered;

  private final RecordingParkStrategy parkStrategy = new RecordingParkStrategy();

  @Test
  void everyScheduledTimerExpiredOrWasCancelledOrIsArmed() throws InterruptedException {
    ExecutorService consumers = Executors.newFixedThreadPool(2);
    TimersConfig config =
        TimersConfig.builder("wheel")
            .tick(Duration.ofMillis(3))
            .batchSize(100)
            .queueCapacity(8)
            .retryDelay(Duration.ofMillis(1))
            .build();
    int armedAtEnd = 0;
    try (CapturedLog log = new CapturedLog();
        ShardedTimers timers =
            new ShardedTimers(config, clock, batch -> deliver(batch, consumers), parkStrategy)) {
      for (int shard = 0; shard < SHARDS; shard++) {
        timers.open(shard);
      }
      runProducers(timers);
      parkStrategy.awaitIdle(timers);
      while (timers.pending() > countNeverDue()) {
        clock.set(clock.nowMillis() + 1);
        parkStrategy.awaitIdle(timers);
      }
      assertThat(log.messages()).isNotEmpty().allMatch(message -> message.contains("rejected"));
      for (ArmedTimers armed : timers.stop()) {
        for (int i = 0; i < armed.size(); i++) {
          int id = Math.toIntExact(armed.id(i));
          assertThat(id % SHARDS).isEqualTo(armed.shard());
          assertThat(isNeverDue(id)).isTrue();
          assertThat(cancelled.get(id)).isZero();
          armedAtEnd++;
        }
      }
    } finally {
      consumers.shutdown();
      // Limited by the default time limit of tests.
      assertThat(consumers.awaitTermination(Long.MAX_VALUE, TimeUnit.NANOSECONDS)).isTrue();
    }
    assertThat(armedAtEnd).isEqualTo(countNeverDue());
    assertThat(early).hasValue(0);
    for (int id = 0; id < IDS; id++) {
      if (isNeverDue(id)) {
        assertThat(expired.get(id)).isZero();
      } else if (cancelled.get(id) == 0) {
        assertThat(expired.get(id)).as("times %s expired", id).isOne();
      } else {
        assertThat(expired.get(id)).as("times %s expired", id).isLessThanOrEqualTo(1);
      }
    }
  }

  private void deliver(DueBatch batch, ExecutorService consumers) {
    if (++offered % 10 == 0) {
      throw new IllegalArgumentException("rejected for the test");
    }
    for (int i = 0; i < batch.size(); i++) {
      if (batch.deadlineMillis(i) > clock.nowMillis()) {
        early.incrementAndGet();
      }
    }
    consumers.execute(
        () -> {
          for (long id : batch.ids()) {
            expired.incrementAndGet(Math.toIntExact(id));
          }
          batch.done();
        });
  }

  private void runProducers(ShardedTimers timers) throws InterruptedException {
    CountDownLatch done = new CountDownLatch(THREADS);
    List<Thread> threads = new ArrayList<>();
    for (int thread = 0; thread < THREADS; thread++) {
      int firstId = thread * IDS_PER_THREAD;
      threads.add(
          new Thread(
              () -> {
                produce(timers, firstId);
                done.countDown();
              }));
    }
    threads.forEach(Thread::start);
    while (done.getCount() > 0) {
      clock.set(clock.nowMillis() + 1);
      timers.clockChanged();
      RaceHarness.yieldProcessor();
    }
    done.await();
  }

  private void produce(ShardedTimers timers, int firstId) {
    SplittableRandom random = new SplittableRandom(firstId);
    for (int id = firstId; id < firstId + IDS_PER_THREAD; id++) {
      int shard = id % SHARDS;
      if (isNeverDue(id)) {
        timers.schedule(shard, id, Long.MAX_VALUE - id);
        continue;
      }
      timers.schedule(shard, id, clock.nowMillis() + random.nextInt(200));
      if (id % 5 == 0) {
        cancelled.set(id, 1);
        timers.cancel(shard, id);
      }
    }
  }

  /** Returns whether a timer is armed for a time that the test does not reach. */
  private static boolean isNeverDue(int id) {
    return id % 7 == 0;
  }

  private static int countNeverDue() {
    return (IDS + 6) / 7;
  }
}
