package io.ordertimeout.orders.platform.postgres;

import io.ordertimeout.orders.platform.loop.PeriodicTasks;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/**
 * An estimate of Postgres's clock that needs no query per reading: the last time read from Postgres
 * plus the monotonic time since. A jump of this machine's wall clock does not affect it.
 *
 * <p>Between two measurements the error is at most half a round trip (of the fastest of five) plus
 * drift. The estimate only decides when orders are woken, never whether they are cancelled.
 * Thread-safe; a reading is O(1).
 */
@Component
public class DatabaseClock {

  private static final Logger log = LoggerFactory.getLogger(DatabaseClock.class);
  private static final Duration INTERVAL = Duration.ofSeconds(30);
  private static final int SAMPLES = 5;

  /** A time from Postgres that is further off than this triggers a new measurement. */
  private static final Duration TOLERANCE = Duration.ofMillis(100);

  private static final Duration LARGE_CORRECTION = Duration.ofSeconds(1);

  /** Clocks that are further apart than this are not synchronized. */
  private static final Duration FAR_OFF = Duration.ofSeconds(5);

  /** A time read from Postgres, and the monotonic time in the middle of the round trip. */
  private record Anchor(Instant database, long nanos, Duration offset) {}

  private final Supplier<Instant> database;
  private final LongSupplier nanoTime;
  private final InstantSource wallClock;
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private final List<Runnable> setBackListeners = new CopyOnWriteArrayList<>();
  private volatile @Nullable Anchor anchor;

  /** Creates a clock that has no time until {@link #set} is called. */
  @Autowired
  DatabaseClock(JdbcTemplate jdbc, PeriodicTasks tasks) {
    this(() -> query(jdbc), System::nanoTime, Clock.systemUTC());
    tasks.repeat(
        "database-clock",
        INTERVAL,
        "deadlines continue to follow the last measurement",
        this::measure);
  }

  public DatabaseClock(Supplier<Instant> database, LongSupplier nanoTime, InstantSource wallClock) {
    this.database = database;
    this.nanoTime = nanoTime;
    this.wallClock = wallClock;
  }

  /**
   * Sets the clock from Postgres, unless it is set already.
   *
   * @throws org.springframework.dao.DataAccessException if Postgres cannot be reached
   */
  public void set() {
    if (anchor == null) {
      Anchor first = sample();
      anchor = first;
      warnIfFarOff(first.offset);
      listeners.forEach(Runnable::run);
    }
  }

  private static void warnIfFarOff(Duration offset) {
    if (offset.abs().compareTo(FAR_OFF) > 0) {
      log.warn(
          "Postgres's clock is {} {} this machine's. Orders are cancelled by Postgres's clock: if that"
              + " is the wrong one, they are cancelled too early or too late; synchronize both with NTP",
          offset.abs(),
          offset.isNegative() ? "behind" : "ahead of");
    }
  }

  /**
   * The estimated time of Postgres's clock.
   *
   * @throws IllegalStateException if the clock is not set yet
   */
  public Instant now() {
    return now(anchor());
  }

  /** Whether the clock is set. */
  public boolean isSet() {
    return anchor != null;
  }

  /** How far Postgres's clock is ahead of this machine's wall clock; zero if not set yet. */
  public Duration offset() {
    Anchor latest = anchor;
    return latest == null ? Duration.ZERO : latest.offset;
  }

  /** Reads the exact time from Postgres, at the cost of a round trip. */
  public Instant readExact() {
    Instant exact = database.get();
    compareWith(exact);
    return exact;
  }

  /** Measures again if the estimate is far from a time that Postgres has just stated. */
  void compareWith(Instant exact) {
    if (Duration.between(now(), exact).abs().compareTo(TOLERANCE) > 0) {
      measure();
    }
  }

  /** Registers a listener that is called after every measurement, on the measuring thread. */
  public void onChange(Runnable listener) {
    listeners.add(listener);
  }

  /**
   * Registers a listener that is called when Postgres's clock was set back by more than a second:
   * times that were computed meanwhile are too late. It is called on the measuring thread.
   */
  public void onSetBack(Runnable listener) {
    setBackListeners.add(listener);
  }

  synchronized void measure() {
    Anchor before = anchor;
    if (before == null) {
      return;
    }
    Anchor fresh = sample();
    anchor = fresh;
    if (fresh.offset.minus(before.offset).abs().compareTo(LARGE_CORRECTION) > 0) {
      warnIfFarOff(fresh.offset);
    }
    Duration correction = Duration.between(now(before), now(fresh));
    if (correction.abs().compareTo(LARGE_CORRECTION) > 0) {
      log.warn(
          "Postgres's clock jumped by {} relative to this instance's; deadlines follow the new time",
          correction);
    }
    listeners.forEach(Runnable::run);
    if (correction.compareTo(LARGE_CORRECTION.negated()) < 0) {
      setBackListeners.forEach(Runnable::run);
    }
  }

  private Instant now(Anchor latest) {
    return latest.database.plusNanos(nanoTime.getAsLong() - latest.nanos);
  }

  private Anchor anchor() {
    Anchor latest = anchor;
    if (latest == null) {
      throw new IllegalStateException("Postgres's clock has not been read yet");
    }
    return latest;
  }

  private Anchor sample() {
    Anchor best = null;
    long fastest = Long.MAX_VALUE;
    for (int i = 0; i < SAMPLES; i++) {
      long before = nanoTime.getAsLong();
      Instant time = database.get();
      long roundTrip = nanoTime.getAsLong() - before;
      if (best == null || roundTrip < fastest) {
        fastest = roundTrip;
        // Half a round trip off, which is negligible for the offset metric.
        Duration offset = Duration.between(wallClock.instant(), time);
        best = new Anchor(time, before + roundTrip / 2, offset);
      }
    }
    return Objects.requireNonNull(best);
  }

  private static Instant query(JdbcTemplate jdbc) {
    OffsetDateTime now = jdbc.queryForObject("select clock_timestamp()", OffsetDateTime.class);
    return Objects.requireNonNull(now).toInstant();
  }
}
