package io.ordertimeout.orders.platform.postgres;

import io.ordertimeout.orders.platform.loop.PeriodicTasks;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/**
 * Notices what operators and other instances change, by one statement a second instead of one for
 * each reader: a reader states the fingerprint of what it reads, and reads only if the fingerprint
 * has changed, or is not known. Thread-safe.
 */
@Component
public class ChangeDetector {

  /** A fingerprint that is older says nothing. */
  private static final Duration STALE = Duration.ofSeconds(3);

  private static final Duration INTERVAL = Duration.ofSeconds(1);

  /** The fingerprints of one moment, and the monotonic time before they were asked for. */
  private record Reading(List<String> fingerprints, long nanos) {}

  private final JdbcTemplate jdbc;
  private final SchemaMigration schema;
  private final DatabaseClock clock;
  private final List<String> fingerprints = new CopyOnWriteArrayList<>();
  private volatile @Nullable Reading latest;

  ChangeDetector(
      JdbcTemplate jdbc, SchemaMigration schema, DatabaseClock clock, PeriodicTasks tasks) {
    this.jdbc = jdbc;
    this.schema = schema;
    this.clock = clock;
    tasks.repeat(
        "change-watch",
        INTERVAL,
        "every reader asks Postgres by itself whether something has changed",
        this::read);
  }

  /**
   * Begins to watch something.
   *
   * @param fingerprint SQL query of one text that changes whenever the result of the reading does;
   *     it costs no more than the reading
   */
  public synchronized CachedRead watch(String fingerprint) {
    int index = fingerprints.indexOf(fingerprint);
    if (index < 0) {
      index = fingerprints.size();
      fingerprints.add(fingerprint);
    }
    int column = index;
    return new CachedRead(() -> fingerprint(column), System::nanoTime);
  }

  private void read() {
    if (!schema.isMigrated()) {
      return;
    }
    long before = System.nanoTime();
    String columns =
        fingerprints.stream().map(f -> ", (" + f + ")").collect(Collectors.joining("\n"));
    jdbc.query(
        "select clock_timestamp() as now" + columns,
        row -> {
          Instant now = ResultSets.requiredInstant(row, "now");
          latest = new Reading(fingerprints(row), before);
          if (clock.isSet()) {
            clock.compareWith(now);
          }
        });
  }

  private static List<String> fingerprints(ResultSet row) throws SQLException {
    List<String> found = new ArrayList<>();
    for (int column = 2; column <= row.getMetaData().getColumnCount(); column++) {
      found.add(Objects.requireNonNullElse(row.getString(column), ""));
    }
    return found;
  }

  private @Nullable String fingerprint(int index) {
    Reading reading = latest;
    if (reading == null
        || index >= reading.fingerprints.size()
        || System.nanoTime() - reading.nanos > STALE.toNanos()) {
      return null;
    }
    return reading.fingerprints.get(index);
  }
}
