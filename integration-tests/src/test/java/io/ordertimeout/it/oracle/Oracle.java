package io.ordertimeout.it.oracle;

import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Scenario;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import org.apache.kafka.common.TopicPartition;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Reads everything that is published in a scenario and, in the end, judges every order by what was
 * produced when.
 */
public final class Oracle implements AutoCloseable {

  private static final Duration POLL_INTERVAL = Duration.ofMillis(50);

  private final Scenario scenario;
  private final Acknowledgements acknowledgements = new Acknowledgements();
  private final ObservedRecords records;
  private final CommittedRecordReader reader;
  private @Nullable ForbiddenChangeTrigger forbiddenChanges;
  private boolean restoredCancellationsAllowed;

  private Oracle(Scenario scenario) {
    this.scenario = scenario;
    this.records = new ObservedRecords(scenario.topics());
    this.reader =
        CommittedRecordReader.start(scenario.bootstrapServers(), scenario.allPartitions(), records);
  }

  /** Starts to observe the scenario. */
  public static Oracle observe(Scenario scenario) {
    return new Oracle(scenario);
  }

  /** The acknowledgements that the traffic has to report. */
  public Acknowledgements acknowledgements() {
    return acknowledgements;
  }

  /** Records forbidden row changes from now on; the service must have created its tables. */
  public void recordForbiddenChanges() {
    forbiddenChanges = ForbiddenChangeTrigger.installIn(scenario.database());
  }

  /**
   * Allows settled rows to become cancellations that were published before, as after a failover
   * that lost them.
   */
  public void allowRestoredCancellations() {
    restoredCancellationsAllowed = true;
  }

  /** Returns the number of published cancellations so far, including repetitions. */
  public long cancellations() {
    return records.cancellations();
  }

  /** Judges all orders; see {@link #judge(Duration, String)}. */
  public Verdict judge(Duration patience) {
    return judge(patience, "");
  }

  /**
   * Waits until all input is stored, no order is overdue, the outbox is empty and all output is
   * read; then judges the orders whose ids start with the prefix. Whatever has not happened within
   * the patience is judged as not happening.
   */
  public Verdict judge(Duration patience, String orderIdPrefix) {
    Instant end = Instant.now().plus(patience);
    String notQuiet = null;
    Map<TopicPartition, Long> inputs = retrying("input offsets", end, scenario::inputEnds);
    try {
      until("offsets to be committed", end, () -> scenario.committed(inputs));
      until("overdue orders to be decided", end, () -> overdue(orderIdPrefix) == 0);
      until("the outbox to be empty", end, () -> scenario.database().outboxRows() == 0);
    } catch (ConditionTimeoutException e) {
      notQuiet = e.getMessage();
    }
    Map<TopicPartition, Long> all =
        retrying("end offsets", end.plusSeconds(30), () -> scenario.ends(scenario.allPartitions()));
    until("all topics to be read", end.plusSeconds(60), () -> reader.hasRead(all));
    Verdict verdict = verdict(orderId -> orderId.startsWith(orderIdPrefix));
    if (notQuiet != null) {
      verdict.note("NOT QUIET: " + notQuiet);
    }
    return verdict;
  }

  private long overdue(String orderIdPrefix) {
    return scenario
        .database()
        .count(
            """
            select count(*) from order_deadline
            where state = 'PENDING' and deadline <= clock_timestamp()
              and starts_with(order_id, ?)
            """,
            orderIdPrefix);
  }

  private Verdict verdict(Predicate<String> orderIds) {
    Instant now = scenario.database().now();
    Verdict verdict =
        Verdict.of(
            records.histories(acknowledgements, rows()).stream()
                .filter(history -> orderIds.test(history.orderId()))
                .toList(),
            now);
    DeadLetterJudge deadLetters = records.deadLetters();
    deadLetters.judge().forEach(verdict::add);
    verdict.note(
        "%d unusable records dead-lettered, %d of them more than once; %d events of unknown outcome"
            .formatted(
                deadLetters.garbage(), deadLetters.duplicates(), acknowledgements.unknown()));
    for (RecordPosition position : acknowledgements.committed()) {
      if (!records.contains(position)) {
        verdict.add(new Violation(Kind.LOST_BY_KAFKA, position.toString(), ""));
      }
    }
    if (forbiddenChanges != null) {
      forbiddenChanges
          .violations(
              orderIds,
              (orderId, cancelledAt) ->
                  restoredCancellationsAllowed && records.isPublished(orderId, cancelledAt))
          .forEach(verdict::add);
    }
    return verdict;
  }

  private Map<String, OrderRow> rows() {
    Map<String, OrderRow> rows = new HashMap<>();
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
                    new OrderRow(
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

  /** Kafka or Postgres may be recovering, so an exception counts as not yet. */
  private static void until(String what, Instant end, Callable<Boolean> condition) {
    await(what)
        .atMost(remaining(end))
        .pollInterval(POLL_INTERVAL)
        .ignoreExceptions()
        .until(condition);
  }

  private static <T> T retrying(String what, Instant end, Callable<T> answer) {
    return await(what)
        .atMost(remaining(end))
        .pollInterval(POLL_INTERVAL)
        .ignoreExceptions()
        .until(answer, value -> true);
  }

  private static Duration remaining(Instant end) {
    Duration left = Duration.between(Instant.now(), end);
    return left.compareTo(Duration.ofSeconds(1)) < 0 ? Duration.ofSeconds(1) : left;
  }

  @Override
  public void close() {
    reader.close();
  }
}
