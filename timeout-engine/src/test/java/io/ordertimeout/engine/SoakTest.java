package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Accounts exactly for every timer after concurrent changes of all kinds on a real clock: one short
 * round in a normal build, about 2 seconds, and more with {@code ./mvnw -pl timeout-engine test
 * -Dtest=SoakTest -Dsoak.minutes=3}.
 *
 * <p>Each round ends with a stop during the changes: a short one after a number of changes, the
 * others after 20 seconds. Every id belongs to one producer, which records its requests. Shards 0
 * to 3 are shared by the producers, and each producer drops and reopens one shard of its own.
 */
class SoakTest {

  private static final int PRODUCERS = 4;
  private static final int SHARDS = 8;
  private static final int IDS = 1 << 18;
  private static final int NONE = -1;
  private static final int MAX_BATCH = 300;
  private static final int CHANGES_OF_SHORT_ROUND = 6_000;
  private static final long ROUND_MILLIS = 20_000;

  private final TimerClock clock = TimerClock.steady();
  private final Map<String, Long> ledger = new TreeMap<>();

  @Test
  @Timeout(value = 1, unit = TimeUnit.DAYS)
  void everyTimerIsAccountedFor() {
    long minutes = Long.getLong("soak.minutes", 0);
    assertTimeoutPreemptively(Duration.ofMinutes(minutes + 1), () -> soak(minutes));
    if (minutes > 0) {
      System.out.println("Soak of " + minutes + " min:");
      ledger.forEach((entry, count) -> System.out.printf("%12d %s%n", count, entry));
    }
    long accounted = 0;
    for (Map.Entry<String, Long> entry : ledger.entrySet()) {
      accounted += entry.getKey().startsWith("=") ? entry.getValue() : 0;
    }
    assertThat(accounted).as("accounted for").isEqualTo(ledger.get("scheduled")).isPositive();
    assertThat(ledger).doesNotContainKey("WRONG");
    assertThat(ledger)
        .containsKeys(
            "= expired", "= cancelled", "= rescheduled", "= armed at the stop", "= dropped");
  }

  private void soak(long minutes) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(minutes);
    try (CapturedLog log = new CapturedLog()) {
      for (int round = 0; round == 0 || System.nanoTime() - end < 0; round++) {
        new Round(round).run(minutes == 0);
      }
      assertThat(log.messages()).allMatch(message -> message.contains("rejected"));
    }
  }

  private void count(String entry, long number) {
    ledger.merge(entry, number, Long::sum);
  }

  /** A growable list of longs. Thread-safe. */
  private static final class Longs {

    private long[] values = new long[1 << 16];
    private int size;

    synchronized void add(long value) {
      if (size == values.length) {
        values = Arrays.copyOf(values, size * 2);
      }
      values[size] = value;
      size++;
    }

    synchronized long get(int i) {
      return values[i];
    }

    synchronized long[] sorted() {
      long[] sorted = Arrays.copyOf(values, size);
      Arrays.sort(sorted);
      return sorted;
    }
  }

  private enum Op {
    SCHEDULE,
    /** A request to a closed shard, which never arms the timer. */
    SCHEDULE_CLOSED,
    CANCEL,
    /** A cancellation seen to have taken effect. The key contains that time, not a deadline. */
    CANCEL_CONFIRMED,
    DROP,
    /** From here on: requests that failed because of the stop but may have taken effect. */
    SCHEDULE_UNSURE,
    CANCEL_UNSURE,
    DROP_UNSURE
  }

  /** One {@link ShardedTimers} from its start to its stop. */
  private final class Round {

    private final int number;
    private final long base = clock.nowMillis() - 1000;
    private final Longs expired = new Longs();
    private final AtomicLong early = new AtomicLong();
    private final AtomicLong rejected = new AtomicLong();
    private final ThreadPoolExecutor consumers =
        new ThreadPoolExecutor(2, 2, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(2));
    private final ShardedTimers timers =
        new ShardedTimers(
            TimersConfig.builder("soak")
                .batchSize(200)
                .queueCapacity(64)
                .retryDelay(Duration.ofMillis(5))
                .build(),
            clock,
            this::deliver);

    Round(int number) {
      this.number = number;
    }

    void run(boolean isShort) throws InterruptedException {
      for (int shard = 0; shard < SHARDS; shard++) {
        timers.open(shard);
      }
      List<Producer> producers = new ArrayList<>();
      for (int i = 0; i < PRODUCERS; i++) {
        producers.add(new Producer(this, i));
      }
      producers.forEach(Thread::start);
      if (isShort) {
        producers.get(0).changes.await();
      } else {
        producers.get(0).join(ROUND_MILLIS);
      }
      List<ArmedTimers> armed = timers.stop();
      for (Producer producer : producers) {
        producer.join();
        assertThat(producer.failure).isNull();
      }
      consumers.shutdown();
      assertThat(consumers.awaitTermination(Long.MAX_VALUE, TimeUnit.NANOSECONDS)).isTrue();
      new Settlement(expired.sorted(), armedKeys(armed)).settle(producers);
      count("rejected batches", rejected.get());
      if (early.get() > 0) {
        count("WRONG", early.get());
      }
      count("early", early.get());
    }

    private void deliver(DueBatch batch) {
      long now = clock.nowMillis();
      for (int i = 0; i < batch.size(); i++) {
        if (batch.deadlineMillis(i) > now) {
          early.incrementAndGet();
        }
      }
      try {
        consumers.execute(
            () -> {
              for (int i = 0; i < batch.size(); i++) {
                expired.add(key(batch.id(i), batch.deadlineMillis(i)));
              }
              batch.done();
            });
      } catch (RuntimeException full) {
        rejected.incrementAndGet();
        throw full;
      }
    }

    private long[] armedKeys(List<ArmedTimers> armed) {
      Longs keys = new Longs();
      for (ArmedTimers shard : armed) {
        for (int i = 0; i < shard.size(); i++) {
          assertThat(shardOf(Math.toIntExact(shard.id(i)))).isEqualTo(shard.shard());
          keys.add(key(shard.id(i), shard.deadlineMillis(i)));
        }
      }
      return keys.sorted();
    }

    TimerClock clock() {
      return clock;
    }

    /** Returns a key that identifies one scheduling within the round. */
    long key(long id, long deadlineMillis) {
      return id << 32 | (deadlineMillis - base);
    }
  }

  private static int ownerOf(int id) {
    return id % PRODUCERS;
  }

  /** Assigns half of the ids to shared shards and half to their producer's own shard. */
  private static int shardOf(int id) {
    int rest = id / PRODUCERS;
    return rest % 2 == 0 ? rest / 2 % PRODUCERS : PRODUCERS + ownerOf(id);
  }

  /** Changes its own ids at random until the stop and records each change after making it. */
  private static final class Producer extends Thread {

    final List<Op> ops = new ArrayList<>();
    final Longs keys = new Longs();
    final CountDownLatch changes = new CountDownLatch(CHANGES_OF_SHORT_ROUND);
    private final Round round;
    private final int number;
    private final SplittableRandom random;
    private final int[] schedulings = new int[IDS];
    private boolean ownIsOpen = true;
    private volatile @Nullable Throwable failure;

    Producer(Round round, int number) {
      super("producer-" + number);
      this.round = round;
      this.number = number;
      this.random = new SplittableRandom(round.number * PRODUCERS + number);
      setDaemon(true);
    }

    @Override
    public void run() {
      try {
        while (change()) {
          changes.countDown();
          if (random.nextInt(4) == 0) {
            LockSupport.parkNanos(1_000_000);
          }
        }
      } catch (Throwable unexpected) {
        failure = unexpected;
      } finally {
        while (changes.getCount() > 0) {
          changes.countDown();
        }
      }
    }

    /** Makes one call. Returns false if it failed because of the stop. */
    private boolean change() {
      int what = random.nextInt(1000);
      int id = randomId();
      int shard = shardOf(id);
      if (what < 2) {
        return dropOrOpen();
      }
      if (what < 10) {
        return cancelAndConfirm(shard, id);
      }
      if (what < 200) {
        return record(
            Op.CANCEL,
            Op.CANCEL_UNSURE,
            () -> round.timers.cancel(shard, id),
            new long[] {round.key(id, round.base)});
      }
      if (what < 600) {
        long deadline = deadlineOf(id);
        return record(
            scheduling(shard),
            Op.SCHEDULE_UNSURE,
            () -> round.timers.schedule(shard, id, deadline),
            new long[] {round.key(id, deadline)});
      }
      return batch(shard, what < 850);
    }

    private boolean batch(int shard, boolean schedules) {
      int size = 1 + random.nextInt(MAX_BATCH);
      long[] ids = new long[size];
      long[] deadlines = new long[size];
      long[] keysOfCall = new long[size];
      int id = randomId();
      for (int i = 0; i < size; i++) {
        do {
          id = (id + PRODUCERS) % IDS;
        } while (shardOf(id) != shard);
        ids[i] = id;
        deadlines[i] = schedules ? deadlineOf(id) : round.base;
        keysOfCall[i] = round.key(id, deadlines[i]);
      }
      return schedules
          ? record(
              scheduling(shard),
              Op.SCHEDULE_UNSURE,
              () -> round.timers.schedule(shard, ids, deadlines, size),
              keysOfCall)
          : record(
              Op.CANCEL, Op.CANCEL_UNSURE, () -> round.timers.cancel(shard, ids, size), keysOfCall);
    }

    private boolean cancelAndConfirm(int shard, int id) {
      long[] keysOfCall = {round.key(id, round.base)};
      return record(
          Op.CANCEL_CONFIRMED,
          Op.CANCEL_UNSURE,
          () -> {
            round.timers.cancel(shard, id);
            try {
              // Answered after all earlier requests.
              round.timers.forecast(0).join();
            } catch (CancellationException | CompletionException stopped) {
              throw new IllegalStateException(stopped);
            }
            keysOfCall[0] = round.key(id, round.clock().nowMillis());
          },
          keysOfCall);
    }

    private boolean dropOrOpen() {
      int own = PRODUCERS + number;
      // Sometimes an open shard is reopened, which forgets its timers as well.
      boolean opens = !ownIsOpen || random.nextInt(4) == 0;
      ownIsOpen = opens;
      return record(
          Op.DROP,
          Op.DROP_UNSURE,
          () -> {
            if (opens) {
              round.timers.open(own);
            } else {
              round.timers.drop(own);
            }
          },
          new long[] {0});
    }

    private Op scheduling(int shard) {
      return shard < PRODUCERS || ownIsOpen ? Op.SCHEDULE : Op.SCHEDULE_CLOSED;
    }

    private boolean record(Op op, Op unsure, Runnable call, long[] keysOfCall) {
      boolean made = true;
      try {
        call.run();
      } catch (IllegalStateException stopped) {
        made = false;
      }
      for (long key : keysOfCall) {
        ops.add(made ? op : unsure);
        keys.add(key);
      }
      return made;
    }

    private int randomId() {
      return random.nextInt(IDS / PRODUCERS) * PRODUCERS + number;
    }

    /** Returns a past, near or distant deadline that differs from the recent ones of this id. */
    private long deadlineOf(int id) {
      int kind = random.nextInt(10);
      long delay =
          kind == 0
              ? -random.nextInt(500)
              : kind < 7 ? random.nextInt(3000) : random.nextInt(kind == 9 ? 3_600_000 : 30_000);
      long deadline = round.clock().nowMillis() + delay;
      return (deadline & -128) | (schedulings[id]++ & 127);
    }
  }

  /** Compares the recorded requests with the timers that expired or were armed at the stop. */
  private final class Settlement {

    private final long[] expired;
    private final long[] armed;
    private final long[] open = new long[IDS];

    Settlement(long[] expired, long[] armed) {
      this.expired = expired;
      this.armed = armed;
      Arrays.fill(open, NONE);
    }

    void settle(List<Producer> producers) {
      long known = 0;
      for (Producer producer : producers) {
        for (int i = 0; i < producer.ops.size(); i++) {
          Op op = producer.ops.get(i);
          known += settle(op, producer.keys.get(i), producer.number);
        }
      }
      for (int id = 0; id < IDS; id++) {
        if (open[id] != NONE) {
          settleOne(open[id], "= armed at the stop", false, 1);
        }
      }
      // Every expired or armed timer must belong to exactly one recorded scheduling.
      count("expired and armed, found by scheduling", found);
      if (found != expired.length + armed.length) {
        count("WRONG", Math.abs(found - expired.length - armed.length));
      }
      count("scheduled", known);
    }

    private long found;

    /** Settles one request and returns the number of timers it scheduled. */
    private int settle(Op op, long key, int producer) {
      int id = (int) (key >>> 32);
      long before = open[id];
      switch (op) {
        case SCHEDULE -> {
          if (before != NONE) {
            settleOne(before, "= rescheduled", false, 0);
          }
          open[id] = key;
          return 1;
        }
        case SCHEDULE_CLOSED -> {
          settleOne(key, "= ignored by a closed shard", true, 0);
          return 1;
        }
        case CANCEL, CANCEL_CONFIRMED -> {
          if (before == NONE) {
            count("cancellations of timers not scheduled", 1);
            return 0;
          }
          // A timer seen cancelled before its deadline must not have expired.
          boolean certain = op == Op.CANCEL_CONFIRMED && before > key;
          settleOne(before, certain ? "= cancelled, seen in time" : "= cancelled", certain, 0);
          open[id] = NONE;
          return 0;
        }
        case DROP, DROP_UNSURE -> {
          for (int own = 0; own < IDS; own++) {
            if (open[own] != NONE && shardOf(own) == PRODUCERS + producer) {
              settleOne(open[own], "= dropped", false, op == Op.DROP ? 0 : NONE);
              open[own] = NONE;
            }
          }
          return 0;
        }
        case SCHEDULE_UNSURE -> {
          boolean isThere = places(key) > 0;
          if (before != NONE) {
            settleOne(before, "= rescheduled", false, isThere ? NONE : places(before));
            if (!isThere && places(before) == 0) {
              count("WRONG", 1);
            }
            open[id] = NONE;
          }
          settleOne(key, "= rejected by the stop", false, NONE);
          return 1;
        }
        case CANCEL_UNSURE -> {
          if (before != NONE) {
            settleOne(before, "= cancelled", false, NONE);
            open[id] = NONE;
          }
          return 0;
        }
      }
      throw new AssertionError(op);
    }

    /**
     * Requires that one scheduling has one outcome. Unless the timer expired, it must be armed as
     * often as expected, where NONE expects nothing.
     */
    private void settleOne(long key, String otherwise, boolean neverExpired, int armedWanted) {
      int timesExpired = occurrences(expired, key);
      int timesArmed = occurrences(armed, key);
      found += timesExpired + timesArmed;
      if (timesExpired + timesArmed > 1
          || (timesExpired == 1 && neverExpired)
          || (timesExpired == 0 && armedWanted != NONE && timesArmed != armedWanted)) {
        count("WRONG", 1);
      } else if (timesExpired == 1) {
        count("= expired", 1);
        if (!otherwise.startsWith("= armed")) {
          count("  of the expired, too late to be" + otherwise.substring(1), 1);
        }
      } else if (timesArmed == 1) {
        count("= armed at the stop", 1);
      } else {
        count(otherwise, 1);
      }
    }

    private int places(long key) {
      return occurrences(expired, key) + occurrences(armed, key);
    }

    private int occurrences(long[] sorted, long key) {
      int at = Arrays.binarySearch(sorted, key);
      if (at < 0) {
        return 0;
      }
      int from = at;
      while (from > 0 && sorted[from - 1] == key) {
        from--;
      }
      int to = at + 1;
      while (to < sorted.length && sorted[to] == key) {
        to++;
      }
      return to - from;
    }
  }
}
