package io.ordertimeout.engine;

import static io.ordertimeout.engine.ShardedTimers.NOT_KNOWN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of queries about the timers of a running shard. */
@Timeout(60)
class ShardedTimersQueryTest extends ShardedTimersTestBase {

  private long[] deadlines(int shard, long... ids) {
    return timers.deadlines(shard, ids, ids.length).join();
  }

  /** Pages through a shard and returns the ids. */
  private static List<Long> pageThrough(ShardedTimers timers, int shard, int limit) {
    List<Long> ids = new ArrayList<>();
    long cursor = 0;
    do {
      ArmedTimers page = timers.armed(shard, cursor, limit).join();
      assertThat(page.shard()).isEqualTo(shard);
      for (int i = 0; i < page.size(); i++) {
        ids.add(page.id(i));
      }
      cursor = page.nextCursor();
    } while (cursor != 0);
    return ids;
  }

  @Test
  void findsArmedTimersAndDeliveredOnesUntilDone() throws InterruptedException {
    timers.open(0);
    timers.schedule(0, new long[] {1, 2, 3}, new long[] {NOW, NOW - 1, NOW + 10}, 3);
    awaitIdle();

    assertThat(deadlines(0, 4, 3, 2, 1, 2))
        .containsExactly(NOT_KNOWN, NOW + 10, NOW - 1, NOW, NOW - 1);
    assertThat(pageThrough(timers, 0, 10)).containsExactly(3L);

    timers.cancel(0, 2);
    timers.schedule(0, 1, NOW + 20);
    assertThat(deadlines(0, 1, 2))
        .as("armed again, and delivered")
        .containsExactly(NOW + 20, NOW - 1);

    onlyBatch().done();
    assertThat(deadlines(0, 1, 2, 3)).containsExactly(NOW + 20, NOT_KNOWN, NOW + 10);
    timers.cancel(0, 1);
    assertThat(deadlines(0, 1)).containsExactly(NOT_KNOWN);
  }

  @Test
  void closedShardHasNoTimers() {
    timers.open(1);
    timers.schedule(1, 7, NOW + 10);

    assertThat(deadlines(0, 7, 8)).containsExactly(NOT_KNOWN, NOT_KNOWN);
    assertThat(pageThrough(timers, 0, 10)).isEmpty();
    assertThat(pageThrough(timers, 1, 10)).containsExactly(7L);
    timers.drop(1);
    assertThat(deadlines(1, 7)).containsExactly(NOT_KNOWN);
    assertThat(pageThrough(timers, 1, 10)).isEmpty();
  }

  @Test
  void rejectedTimersAreArmedAgain() throws InterruptedException {
    beforeQueueing =
        batch -> {
          throw new RejectedExecutionException("full");
        };
    timers.open(0);
    timers.schedule(0, 1, NOW);
    awaitIdle();

    assertThat(deadlines(0, 1)).containsExactly(NOW);
    assertThat(pageThrough(timers, 0, 10)).containsExactly(1L);
  }

  @Test
  void rejectedTimersAreArmedAgainEvenIfLoggingFails() throws InterruptedException {
    Handler failing =
        new Handler() {
          @Override
          public void publish(LogRecord entry) {
            throw new IllegalArgumentException("no log");
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    BlockingQueue<CompletableFuture<ArmedTimers>> page = new LinkedBlockingQueue<>();
    beforeQueueing =
        batch -> {
          beforeQueueing = later -> {};
          page.add(timers.armed(0, 0, 10));
          throw new RejectedExecutionException("full");
        };
    Logger logger = Logger.getLogger(ShardedTimers.class.getName());
    logger.addHandler(failing);
    try {
      timers.open(0);
      timers.schedule(0, 1, NOW);
      awaitIdle();
    } finally {
      logger.removeHandler(failing);
    }

    assertThat(page.take().join().size()).isEqualTo(1);
  }

  @Test
  void timersDoneBeforeTheQueryAreNotFound() throws InterruptedException {
    BlockingQueue<CompletableFuture<long[]>> known = new LinkedBlockingQueue<>();
    beforeQueueing =
        batch -> {
          batch.done();
          known.add(timers.deadlines(0, new long[] {1}, 1));
        };
    timers.open(0);
    timers.schedule(0, 1, NOW);

    assertThat(known.take().join()).containsExactly(NOT_KNOWN);
  }

  @Test
  void answersManyIdsInOrder() {
    long[] ids = LongStream.range(0, 5_000).toArray();
    long[] deadlinesMillis = LongStream.range(0, 5_000).map(id -> NOW + 1_000 + id).toArray();
    timers.open(0);
    timers.schedule(0, ids, deadlinesMillis, 5_000);

    CompletableFuture<long[]> answer = timers.deadlines(0, ids, 4_999);
    ids[4_000] = -1;

    assertThat(answer.join())
        .isEqualTo(LongStream.range(0, 4_999).map(id -> NOW + 1_000 + id).toArray());
    assertThat(timers.deadlines(0, ids, 0).join()).isEmpty();
  }

  @Test
  void rejectsInvalidQueries() {
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> timers.deadlines(0, new long[2], 3));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> timers.armed(0, -1, 1))
        .withMessageContaining("-1");
    assertThatIllegalArgumentException().isThrownBy(() -> timers.armed(0, 1L << 31, 1));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> timers.armed(0, 0, 0))
        .withMessageContaining("limit");
    assertThat(timers.armed(0, Integer.MAX_VALUE, 1).join().size()).isZero();
  }

  @Test
  void rejectsQueriesAfterCloseButAnswersEarlierOnes() throws InterruptedException {
    CountDownLatch inListener = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    beforeQueueing =
        batch -> {
          inListener.countDown();
          awaitQuietly(release);
        };
    timers.open(0);
    timers.schedule(0, new long[] {1, 2}, new long[] {NOW, NOW + 10}, 2);
    inListener.await();
    long[] ids = {1, 2};
    CompletableFuture<long[]> known = timers.deadlines(0, ids, 2);
    ids[0] = 9;
    CompletableFuture<ArmedTimers> page = timers.armed(0, 0, 10);
    Thread stopper = new Thread(timers::close);
    stopper.start();
    awaitWaiting(stopper);

    assertThatIllegalStateException().isThrownBy(() -> timers.deadlines(0, new long[1], 1));
    assertThatIllegalStateException().isThrownBy(() -> timers.armed(0, 0, 1));
    release.countDown();
    assertThat(known.join()).containsExactly(NOW, NOW + 10);
    assertThat(page.join().id(0)).isEqualTo(2);
    stopper.join();
  }

  @Test
  void largeQueriesDoNotDelayDueTimers() throws InterruptedException {
    for (boolean pages : new boolean[] {false, true}) {
      CountDownLatch inListener = new CountDownLatch(1);
      CountDownLatch release = new CountDownLatch(1);
      beforeQueueing =
          batch -> {
            inListener.countDown();
            awaitQuietly(release);
          };
      try (ShardedTimers roomy = timers(TimersConfig.builder("roomy").queueCapacity(64))) {
        roomy.open(0);
        roomy.open(1);
        roomy.schedule(0, 1, NOW);
        inListener.await();
        roomy.schedule(1, 2, NOW);
        for (int page = 0; pages && page < 40; page++) {
          assertThat(roomy.armed(1, 0, 1)).isNotDone();
        }
        if (!pages) {
          assertThat(roomy.deadlines(1, new long[40 * 1024], 40 * 1024)).isNotDone();
        }
        CompletableFuture<List<Integer>> delivered =
            roomy.forecast(NOW).thenApply(due -> batches.stream().map(DueBatch::shard).toList());
        release.countDown();

        assertThat(delivered.join()).as("delivered by the time of the last answer").contains(1);
      }
      batches.clear();
    }
  }

  @Test
  void pagesThroughTheShardWhileThreadsChangeIt() throws InterruptedException {
    timers.open(0);
    long[] staying = LongStream.range(0, 10_000).toArray();
    long[] deadlinesMillis = LongStream.range(0, 10_000).map(id -> NOW + 1_000_000 + id).toArray();
    timers.schedule(0, staying, deadlinesMillis, staying.length);
    AtomicBoolean finished = new AtomicBoolean();
    List<Thread> threads = new ArrayList<>();
    for (int thread = 1; thread <= 2; thread++) {
      int firstId = thread * 1_000_000;
      threads.add(
          new Thread(
              () -> {
                for (int round = 0; !finished.get(); round++) {
                  // The wheel grows by 32,000 timers per thread and shrinks again.
                  long id = firstId + (round % 64) * 500L;
                  long[] ids = LongStream.range(id, id + 500).toArray();
                  if (round / 64 % 2 == 0) {
                    timers.schedule(0, ids, deadlinesMillis, 500);
                  } else {
                    timers.cancel(0, ids, 500);
                  }
                  timers.schedule(0, round % 10_000, NOW + 2_000_000 + round);
                }
              }));
    }
    threads.forEach(Thread::start);
    try {
      for (int i = 0; i < 5; i++) {
        List<Long> ids = pageThrough(timers, 0, 900);
        assertThat(new HashSet<>(ids).size()).as("each id is returned once").isEqualTo(ids.size());
        assertThat(ids.stream().filter(id -> id < 10_000).count()).isEqualTo(10_000);
      }
    } finally {
      finished.set(true);
      for (Thread thread : threads) {
        thread.join();
      }
    }
  }
}
