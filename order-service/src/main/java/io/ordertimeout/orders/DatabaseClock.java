package io.ordertimeout.orders;

import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
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

  /** What Postgres said, and the monotonic time in the middle of the round trip. */
  private record Anchor(Instant database, long nanos) {}

  private final Supplier<Instant> database;
  private final LongSupplier nanoTime;
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private volatile Anchor anchor;

  /** Measures at once, so it fails where Postgres cannot be reached. */
  @Autowired
  public DatabaseClock(JdbcTemplate jdbc) {
    this(() -> ask(jdbc), System::nanoTime);
  }

  DatabaseClock(Supplier<Instant> database, LongSupplier nanoTime) {
    this.database = database;
    this.nanoTime = nanoTime;
    this.anchor = sample();
  }

  /** The time by Postgres's clock, as well as this instance knows it. */
  public Instant now() {
    Anchor latest = anchor;
    return latest.database.plusNanos(nanoTime.getAsLong() - latest.nanos);
  }

  /** Asks Postgres: the authority, at the price of a round trip. */
  public Instant ask() {
    return database.get();
  }

  /** Has the listener called, on the measuring thread, whenever the clock was set anew. */
  public void onChange(Runnable listener) {
    listeners.add(listener);
  }

  @Scheduled(fixedDelayString = "PT10S", initialDelayString = "PT10S")
  void measure() {
    Anchor fresh;
    try {
      fresh = sample();
    } catch (RuntimeException e) {
      log.warn(
          "Postgres's clock could not be read; deadlines go on by the last measurement: {}",
          e.toString());
      return;
    }
    Instant believed = now();
    anchor = fresh;
    Duration correction = Duration.between(believed, now());
    if (correction.abs().compareTo(Duration.ofSeconds(1)) > 0) {
      log.warn("Postgres's clock jumped by {} against this instance's; followed it", correction);
    }
    listeners.forEach(Runnable::run);
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
        best = new Anchor(answer, asked + roundTrip / 2);
      }
    }
    return Objects.requireNonNull(best);
  }

  private static Instant ask(JdbcTemplate jdbc) {
    OffsetDateTime now = jdbc.queryForObject("select clock_timestamp()", OffsetDateTime.class);
    return Objects.requireNonNull(now).toInstant();
  }
}
