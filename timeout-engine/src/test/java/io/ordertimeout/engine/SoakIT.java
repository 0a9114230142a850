package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Minutes of everything at once on a real clock, and a ledger that is exact to the timer. Not part
 * of the build: {@code ./mvnw -pl timeout-engine test -Dtest=SoakIT
 * -Dsurefire.failIfNoSpecifiedTests=false -Dsoak.minutes=3}.
 *
 * <p>It goes by rounds of 20 seconds, each of which ends with a stop amid the changes. Every id
 * belongs to one producer, which notes what it asks for; shards 0 to 3 are shared by the producers,
 * and each of them drops and reopens one of its own.
 */
class SoakIT {

  private static final int PRODUCERS = 4;
  private static final int SHARDS = 8;
  private static final int IDS = 1 << 18;
  private static final int NONE = -1;
  private static final int MAX_BATCH = 300;

  private final TimerClock clock = TimerClock.steady();
  private final Map<String, Long> ledger = new TreeMap<>();

  @Test
  @Timeout(value = 1, unit = TimeUnit.DAYS)
  void everyTimerIsAccountedFor() throws InterruptedException {
    long minutes = Long.getLong("soak.minutes", 1);
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(minutes);
    try (CapturedLog log = new CapturedLog()) {
      for (int round = 0; round == 0 || System.nanoTime() - end < 0; round++) {
        new Round(round).run();
      }
      assertThat(log.messages()).allMatch(message -> message.contains("refused"));
    }
    System.out.println("Soak of " + minutes + " min:");
    ledger.forEach((entry, count) -> System.out.printf("%12d %s%n", count, entry));
    long accounted = 0;
    for (Map.Entry<String, Long> entry : ledger.entrySet()) {
      accounted += entry.getKey().startsWith("=") ? entry.getValue() : 0;
    }
    System.out.println("scheduled " + ledger.get("scheduled") + " = accounted for " + accounted);
    assertThat(accounted).isEqualTo(ledger.get("scheduled"));
    assertThat(ledger).doesNotContainKey("WRONG");
  }

  private void count(String entry, long number) {
    ledger.merge(entry, number, Long::sum);
  }

  /** Grows. Thread-safe. */
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
    /** In a shard that is not open: never armed. */
    SCHEDULE_CLOSED,
    CANCEL,
    /** Seen to have taken effect; the key has the time of that instead of a deadline. */
    CANCEL_CONFIRMED,
    DROP,
    /** From here on: thrown at by the stop, and perhaps in effect all the same. */
    SCHEDULE_UNSURE,
    CANCEL_UNSURE,
    DROP_UNSURE
  }

  /** One front from its start to its stop. */
  private final class Round {

    private final int number;
    private final long base = clock.nowMillis() - 1000;
    private final Longs fired = new Longs();
    private final AtomicLong early = new AtomicLong();
    private final AtomicLong rejected = new AtomicLong();
    private final ThreadPoolExecutor consumers =
        new ThreadPoolExecutor(2, 2, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(2));
    private final ShardedTimers timers =
        new ShardedTimers(
            new TimersConfig(
                "soak",
                Duration.ofMillis(10),
                200,
                64,
                Duration.ofMillis(5),
                Duration.ofSeconds(1),
                Long.MAX_VALUE),
            clock,
            this::handOver);

    Round(int number) {
      this.number = number;
    }

    void run() throws InterruptedException {
      for (int shard = 0; shard < SHARDS; shard++) {
        timers.open(shard);
      }
      List<Producer> producers = new ArrayList<>();
      for (int i = 0; i < PRODUCERS; i++) {
        producers.add(new Producer(this, i));
      }
      producers.forEach(Thread::start);
      producers.get(0).join(20_000);
      List<ArmedTimers> armed = timers.stop();
      for (Producer producer : producers) {
        producer.join(30_000);
        assertThat(producer.isAlive()).isFalse();
        assertThat(producer.failure).isNull();
      }
      consumers.shutdown();
      assertThat(consumers.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
      new Settlement(fired.sorted(), armedKeys(armed)).settle(producers);
      count("rejected batches", rejected.get());
      if (early.get() > 0) {
        count("WRONG", early.get());
      }
      count("early", early.get());
    }

    private void handOver(DueBatch batch) {
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
                fired.add(key(batch.id(i), batch.deadlineMillis(i)));
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

    /** Tells one scheduling from every other of the round. */
    long key(long id, long deadlineMillis) {
      return id << 32 | (deadlineMillis - base);
    }
  }

  private static int ownerOf(int id) {
    return id % PRODUCERS;
  }

  /** Half of the ids are in shared shards, half in their producer's own. */
  private static int shardOf(int id) {
    int rest = id / PRODUCERS;
    return rest % 2 == 0 ? rest / 2 % PRODUCERS : PRODUCERS + ownerOf(id);
  }

  /** Changes its own ids at random until the stop, and notes each change once it is made. */
  private static final class Producer extends Thread {

    final List<Op> ops = new ArrayList<>();
    final Longs keys = new Longs();
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
          if (random.nextInt(4) == 0) {
            LockSupport.parkNanos(1_000_000);
          }
        }
      } catch (Throwable unexpected) {
        failure = unexpected;
      }
    }

    /** One call; false if it threw because of the stop. */
    private boolean change() {
      int what = random.nextInt(1000);
      int id = randomId();
      int shard = shardOf(id);
      if (what < 2) {
        return dropOrOpen();
      }
      if (what < 10) {
        return cancelAndSee(shard, id);
      }
      if (what < 200) {
        return note(
            Op.CANCEL,
            Op.CANCEL_UNSURE,
            () -> round.timers.cancel(shard, id),
            new long[] {round.key(id, round.base)});
      }
      if (what < 600) {
        long deadline = deadlineOf(id);
        return note(
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
      long[] noted = new long[size];
      int id = randomId();
      for (int i = 0; i < size; i++) {
        do {
          id = (id + PRODUCERS) % IDS;
        } while (shardOf(id) != shard);
        ids[i] = id;
        deadlines[i] = schedules ? deadlineOf(id) : round.base;
        noted[i] = round.key(id, deadlines[i]);
      }
      return schedules
          ? note(
              scheduling(shard),
              Op.SCHEDULE_UNSURE,
              () -> round.timers.schedule(shard, ids, deadlines, size),
              noted)
          : note(Op.CANCEL, Op.CANCEL_UNSURE, () -> round.timers.cancel(shard, ids, size), noted);
    }

    private boolean cancelAndSee(int shard, int id) {
      long[] noted = {round.key(id, round.base)};
      return note(
          Op.CANCEL_CONFIRMED,
          Op.CANCEL_UNSURE,
          () -> {
            round.timers.cancel(shard, id);
            try {
              // Answered after everything that was asked for before.
              round.timers.forecast(0).join();
            } catch (CancellationException | CompletionException stopped) {
              throw new IllegalStateException(stopped);
            }
            noted[0] = round.key(id, round.clock().nowMillis());
          },
          noted);
    }

    private boolean dropOrOpen() {
      int own = PRODUCERS + number;
      // Now and then an open shard is opened anew, which forgets its timers as well.
      boolean opens = !ownIsOpen || random.nextInt(4) == 0;
      ownIsOpen = opens;
      return note(
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

    private boolean note(Op op, Op unsure, Runnable call, long[] noted) {
      boolean made = true;
      try {
        call.run();
      } catch (IllegalStateException stopped) {
        made = false;
      }
      for (long key : noted) {
        ops.add(made ? op : unsure);
        keys.add(key);
      }
      return made;
    }

    private int randomId() {
      return random.nextInt(IDS / PRODUCERS) * PRODUCERS + number;
    }

    /** From past to far; never one that this id had shortly before, so that both are told apart. */
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

  /** Compares what the producers noted with what was fired and what was armed at the stop. */
  private final class Settlement {

    private final long[] fired;
    private final long[] armed;
    private final long[] open = new long[IDS];

    Settlement(long[] fired, long[] armed) {
      this.fired = fired;
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
      // Nothing fired or armed that nobody scheduled: each scheduling was found at most once.
      count("fired and armed, found by scheduling", found);
      if (found != fired.length + armed.length) {
        count("WRONG", Math.abs(found - fired.length - armed.length));
      }
      count("scheduled", known);
    }

    private long found;

    /** Returns how many timers were scheduled by it. */
    private int settle(Op op, long key, int producer) {
      int id = (int) (key >>> 32);
      long before = open[id];
      switch (op) {
        case SCHEDULE -> {
          if (before != NONE) {
            settleOne(before, "= moved", false, 0);
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
            count("cancels of what was not scheduled", 1);
            return 0;
          }
          // What was seen cancelled before its deadline must not have fired.
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
            settleOne(before, "= moved", false, isThere ? NONE : places(before));
            if (!isThere && places(before) == 0) {
              count("WRONG", 1);
            }
            open[id] = NONE;
          }
          settleOne(key, "= refused by the stop", false, NONE);
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

    /** One scheduling is one thing in the end. Armed has to be as given, unless fired or NONE. */
    private void settleOne(long key, String otherwise, boolean neverFired, int armedWanted) {
      int timesFired = occurrences(fired, key);
      int timesArmed = occurrences(armed, key);
      found += timesFired + timesArmed;
      if (timesFired + timesArmed > 1
          || (timesFired == 1 && neverFired)
          || (timesFired == 0 && armedWanted != NONE && timesArmed != armedWanted)) {
        count("WRONG", 1);
      } else if (timesFired == 1) {
        count("= fired", 1);
        if (!otherwise.startsWith("= armed")) {
          count("  of the fired, too late to be" + otherwise.substring(1), 1);
        }
      } else if (timesArmed == 1) {
        count("= armed at the stop", 1);
      } else {
        count(otherwise, 1);
      }
    }

    private int places(long key) {
      return occurrences(fired, key) + occurrences(armed, key);
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
