package io.ordertimeout.orders.platform.postgres;

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
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Postgres's clock, read without asking Postgres each time: an answer of Postgres plus the
 * monotonic time since. The wall clock of this machine takes no part, so it may jump.
 *
 * <p>Between two measurements the error is that of the round trip (half of the fastest of five)
 * plus drift; nothing is decided by this clock, it only wakes. Thread-safe; a reading is O(1).
 */
@Component
public class DatabaseClock {

  private static final Logger log = LoggerFactory.getLogger(DatabaseClock.class);
  private static final int SAMPLES = 5;

  /** From here on an answer of Postgres that differs from this clock has it measured anew. */
  private static final Duration NOTICEABLE = Duration.ofMillis(100);

  /** What Postgres said, and the monotonic time in the middle of the round trip. */
  private record Anchor(Instant database, long nanos, Duration offset) {}

  private final Supplier<Instant> database;
  private final LongSupplier nanoTime;
  private final InstantSource wallClock;
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private volatile @Nullable Anchor anchor;

  /** Makes a clock that is still to be set, by {@link #set}. */
  @Autowired
  public DatabaseClock(JdbcTemplate jdbc) {
    this(() -> ask(jdbc), System::nanoTime, Clock.systemUTC());
  }

  public DatabaseClock(Supplier<Instant> database, LongSupplier nanoTime, InstantSource wallClock) {
    this.database = database;
    this.nanoTime = nanoTime;
    this.wallClock = wallClock;
  }

  /**
   * Sets the clock by Postgres's; once set, it stays so, and this returns at once.
   *
   * @throws org.springframework.dao.DataAccessException if Postgres cannot be reached
   */
  public void set() {
    if (anchor == null) {
      anchor = sample();
    }
  }

  /**
   * The time by Postgres's clock, as well as this instance knows it.
   *
   * @throws IllegalStateException if the clock was never set
   */
  public Instant now() {
    return now(measured());
  }

  /** Whether the clock was ever set. */
  public boolean isSet() {
    return anchor != null;
  }

  /** By how much Postgres's clock is ahead of this machine's wall clock; zero if never set. */
  public Duration offset() {
    Anchor latest = anchor;
    return latest == null ? Duration.ZERO : latest.offset;
  }

  /** Asks Postgres: the authority, at the price of a round trip. */
  public Instant ask() {
    Instant answer = database.get();
    if (Duration.between(now(), answer).abs().compareTo(NOTICEABLE) > 0) {
      measure();
    }
    return answer;
  }

  /** Has the listener called, on the measuring thread, whenever the clock was set anew. */
  public void onChange(Runnable listener) {
    listeners.add(listener);
  }

  @Scheduled(fixedDelayString = "PT10S", initialDelayString = "PT10S")
  synchronized void measure() {
    Anchor before = anchor;
    if (before == null) {
      return;
    }
    Anchor fresh;
    try {
      fresh = sample();
    } catch (RuntimeException e) {
      log.warn(
          "Postgres's clock could not be read; deadlines go on by the last measurement: {}",
          e.toString());
      return;
    }
    anchor = fresh;
    Duration correction = Duration.between(now(before), now(fresh));
    if (correction.abs().compareTo(Duration.ofSeconds(1)) > 0) {
      log.warn("Postgres's clock jumped by {} against this instance's; followed it", correction);
    }
    listeners.forEach(Runnable::run);
  }

  private Instant now(Anchor latest) {
    return latest.database.plusNanos(nanoTime.getAsLong() - latest.nanos);
  }

  private Anchor measured() {
    Anchor latest = anchor;
    if (latest == null) {
      throw new IllegalStateException("Postgres's clock is not known yet");
    }
    return latest;
  }

  private Anchor sample() {
    Anchor best = null;
    long fastest = Long.MAX_VALUE;
    for (int i = 0; i < SAMPLES; i++) {
      long asked = nanoTime.getAsLong();
      Instant answer = database.get();
      long roundTrip = nanoTime.getAsLong() - asked;
      if (best == null || roundTrip < fastest) {
        fastest = roundTrip;
        // Off by half a round trip, which does not matter beside what it is for.
        Duration offset = Duration.between(wallClock.instant(), answer);
        best = new Anchor(answer, asked + roundTrip / 2, offset);
      }
    }
    return Objects.requireNonNull(best);
  }

  private static Instant ask(JdbcTemplate jdbc) {
    OffsetDateTime now = jdbc.queryForObject("select clock_timestamp()", OffsetDateTime.class);
    return Objects.requireNonNull(now).toInstant();
  }
}
