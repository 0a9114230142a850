package io.ordertimeout.it.oracle;

import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.traffic.Mix;
import io.ordertimeout.it.traffic.Traffic;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.kafka.common.TopicPartition;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Makes traffic on a stage, reads everything that is said there, and judges in the end every order
 * by what was produced when.
 */
public final class Ledger implements AutoCloseable {

  private final Scenario scenario;
  private final Acknowledgements acknowledgements = new Acknowledgements();
  private final Books books;
  private final LogReader reader;
  private @Nullable ChangeWatch changes;

  private Ledger(Scenario scenario) {
    this.scenario = scenario;
    this.books = new Books(scenario.topics());
    this.reader = LogReader.start(scenario.bootstrapServers(), scenario.allPartitions(), books);
  }

  public static Ledger open(Scenario scenario) {
    return new Ledger(scenario);
  }

  /** Orders without end. */
  public Traffic traffic(Mix mix, long seed, int ordersPerSecond) {
    return traffic(mix, seed, ordersPerSecond, Integer.MAX_VALUE);
  }

  /** So many orders. */
  public Traffic traffic(Mix mix, long seed, int ordersPerSecond, int orders) {
    return Traffic.start(scenario, acknowledgements, mix, seed, ordersPerSecond, orders);
  }

  /** Notes from now on what no row may undergo; the service has to have made its tables. */
  public void watchChanges() {
    changes = ChangeWatch.on(scenario.database());
  }

  /** Publications of cancellations so far. */
  public long cancellations() {
    return books.cancellations();
  }

  /**
   * Waits until all that was said is stored, no order is overdue, nothing waits in the outbox and
   * all that was published is read; then judges. What has not happened after so long is judged as
   * not happening.
   */
  public Verdict judge(Duration patience) {
    Instant end = Instant.now().plus(patience);
    String stuck = null;
    Map<TopicPartition, Long> inputs = quietly("inputs", end, scenario::inputEnds);
    try {
      until("offsets to be committed", end, () -> scenario.committed(inputs));
      until("overdue orders to be decided", end, () -> scenario.database().overdue() == 0);
      until("the outbox to be empty", end, () -> scenario.database().outboxRows() == 0);
    } catch (ConditionTimeoutException e) {
      stuck = e.getMessage();
    }
    Map<TopicPartition, Long> all =
        quietly("ends", end.plusSeconds(30), () -> scenario.ends(scenario.allPartitions()));
    until("the log to be read", end.plusSeconds(60), () -> reader.hasRead(all));
    Verdict verdict = verdict();
    if (stuck != null) {
      verdict.note("NOT QUIET: " + stuck);
    }
    return verdict;
  }

  private Verdict verdict() {
    Instant now = scenario.database().now();
    Map<String, TableRow> rows = rows();
    Verdict verdict = Verdict.of(books.histories(acknowledgements, rows), now);
    DeadLetters deadLetters = books.deadLetters();
    deadLetters.judge().forEach(verdict::add);
    verdict.note(
        "%d unusable records put aside, %d of them repeatedly; %d events of unknown fate"
            .formatted(
                deadLetters.garbage(), deadLetters.duplicates(), acknowledgements.unknown()));
    for (Place place : acknowledgements.committed()) {
      if (!books.contains(place)) {
        verdict.add(new Violation(Kind.LOST_BY_KAFKA, place.toString(), ""));
      }
    }
    if (changes != null) {
      changes.violations().forEach(verdict::add);
    }
    return verdict;
  }

  private Map<String, TableRow> rows() {
    Map<String, TableRow> rows = new HashMap<>();
    scenario
        .database()
        .query(
            """
            select order_id, state, created_at, deadline, decided_at, payment_id
            from order_deadline
            """,
            (rs, row) ->
                rows.put(
                    rs.getString("order_id"),
                    new TableRow(
                        rs.getString("state"),
                        instant(rs, "created_at"),
                        instant(rs, "deadline"),
                        instant(rs, "decided_at"),
                        rs.getString("payment_id"))));
    return rows;
  }

  private static @Nullable Instant instant(ResultSet rs, String column) throws SQLException {
    OffsetDateTime time = rs.getObject(column, OffsetDateTime.class);
    return time == null ? null : time.toInstant();
  }

  /** Kafka or Postgres may be just coming back: a failure counts as not yet. */
  private static void until(String what, Instant end, Callable<Boolean> condition) {
    await(what).atMost(left(end)).ignoreExceptions().until(condition);
  }

  private static <T> T quietly(String what, Instant end, Callable<T> answer) {
    return await(what).atMost(left(end)).ignoreExceptions().until(answer, value -> true);
  }

  private static Duration left(Instant end) {
    Duration left = Duration.between(Instant.now(), end);
    return left.compareTo(Duration.ofSeconds(1)) < 0 ? Duration.ofSeconds(1) : left;
  }

  @Override
  public void close() {
    reader.close();
  }
}
