package io.ordertimeout.it.oracle;

import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.RowChange.PublishedDecisions;
import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Shop;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.TopicConfig;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads everything that is published in a scenario and, in the end, judges every order by what was
 * produced when.
 */
public final class Oracle implements AutoCloseable {

  /** What services with a topic of payment attempts need as order-timeout.attempts.hold. */
  public static final Duration HOLD = Duration.ofSeconds(3);

  private static final Logger log = LoggerFactory.getLogger(Oracle.class);
  private static final Duration POLL_INTERVAL = Duration.ofMillis(50);

  /** What a service that has caught up may have left to read and to decide, under load. */
  private static final long MAX_UNREAD = 500;

  private static final Duration MAX_OVERDUE = Duration.ofSeconds(1);

  /** SQL condition: the order {@code d} is pending, past its deadline by so many seconds. */
  private static final String PAST_DEADLINE =
      """
      d.state = 'PENDING' and d.deadline <= clock_timestamp() - make_interval(secs => ?)
        and not exists (select from parked_order p where p.order_id = d.order_id)""";

  private final Scenario scenario;
  private final Instant observedSince = Instant.now();
  private final Acknowledgements acknowledgements = new Acknowledgements();
  private final ObservedRecords records;
  private final CommittedRecordReader reader;
  private final Disturbances disturbances = new Disturbances();
  private final List<Violation> clockSkews = new ArrayList<>();
  private @Nullable ForbiddenChangeTrigger forbiddenChanges;
  private boolean restoredDecisionsAllowed;
  private Duration allowedLateness = Punctuality.USUAL_LIMIT;
  private Instant staleBefore = Judge.NOTHING_STALE;

  private Oracle(Scenario scenario) {
    this.scenario = scenario;
    this.records = new ObservedRecords(scenario.topics());
    this.reader =
        CommittedRecordReader.start(scenario.bootstrapServers(), scenario.allPartitions(), records);
    scenario
        .kafka()
        .createTopics(
            List.of(
                new NewTopic(clockTopic(), Optional.of(1), Optional.empty())
                    .configs(Map.of(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, "LogAppendTime"))));
    checkClocks("at the start");
  }

  private String clockTopic() {
    return scenario.name() + "-clock";
  }

  /** Compares the clocks by which deadlines are set, records stamped and records seen. */
  private void checkClocks(String when) {
    checkClock(
        "Postgres",
        ClockOffset.measure(() -> scenario.database().now(), Duration.ofNanos(1_000)),
        when);
    try (Shop shop = scenario.patientShop()) {
      checkClock(
          "the broker",
          ClockOffset.measure(
              () ->
                  Instant.ofEpochMilli(
                      Shop.await(shop.send(new ProducerRecord<>(clockTopic(), new byte[0])))
                          .timestamp()),
              Duration.ofMillis(1)),
          when);
    }
  }

  private void checkClock(String whose, ClockOffset offset, String when) {
    log.info("The clock of {} is ahead of this JVM's by {} {}", whose, offset, when);
    if (!offset.isAllowed()) {
      clockSkews.add(
          new Violation(
              Kind.CLOCK_SKEW,
              "the clock of %s is ahead of this JVM's by %s %s, not by %s ms at most"
                  .formatted(whose, offset, when, ClockOffset.ALLOWED_SKEW.toMillis()),
              ""));
    }
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
   * Allows settled rows to change into decisions that were published before, as after a failover
   * that lost them.
   */
  public void allowRestoredDecisions() {
    restoredDecisionsAllowed = true;
  }

  /**
   * Expects orders to be closed as stale whose deadline was past by more than that time when the
   * oracle began to observe.
   */
  public void expectStale(Duration staleAfter) {
    staleBefore = observedSince.minus(staleAfter);
  }

  /** Allows that lateness where nothing is disturbed, if the machine itself may be that slow. */
  public void allowLateness(Duration limit) {
    allowedLateness = limit;
  }

  /** Allows late cancellations from now on, because a fault is injected. */
  public void disturbed() {
    disturbances.begin(Instant.now());
  }

  /** Allows late cancellations of the orders of one shard from now on. */
  public void disturbed(int shard) {
    disturbances.begin(Instant.now(), shard);
  }

  /** Allows late cancellations from now on, also of orders that have been due for long. */
  public void startedForTheFirstTime() {
    disturbances.begin(Instant.MIN);
  }

  /** Demands cancellations in time again once the restored platform had that time to settle. */
  public void restored(Duration settling) {
    disturbances.end(Instant.now().plus(settling));
  }

  /** Waits until the service has worked off what a fault has left behind. */
  public void awaitCaughtUp(Duration patience) {
    reader.requireRunning();
    until("the service to catch up", Instant.now().plus(patience), this::isCaughtUp);
  }

  private boolean isCaughtUp() {
    long appended = scenario.inputEnds().values().stream().mapToLong(Long::longValue).sum();
    long stored =
        scenario.database().count("select coalesce(sum(next_offset), 0) from intake_position");
    return appended - stored <= MAX_UNREAD && overdue(MAX_OVERDUE) == 0;
  }

  /** Returns the number of published cancellations so far, including repetitions. */
  public long cancellations() {
    reader.requireRunning();
    return records.cancellations();
  }

  /** Returns the number of cancelled orders so far that no disturbance excuses for being late. */
  public long undisturbedCancellations() {
    reader.requireRunning();
    return records.cancelledDeadlines().stream()
        .filter(deadline -> !disturbances.overlap(deadline, deadline.plus(allowedLateness)))
        .count();
  }

  /** Judges all orders, and whether they suffice; see {@link #judge(Duration, String)}. */
  public Verdict judge(Duration patience, ShareBounds bounds) {
    Verdict verdict = judge(patience, "");
    verdict.require(bounds);
    return verdict;
  }

  /**
   * Waits until all input is stored, no order is left to be decided, the outbox is empty and all
   * output is read; then judges the orders whose ids start with the prefix. Whatever has not
   * happened within the patience is judged as not happening.
   */
  public Verdict judge(Duration patience, String orderIdPrefix) {
    Instant end = Instant.now().plus(patience);
    Map<TopicPartition, Long> inputs = retrying("input offsets", end, scenario::inputEnds);
    UnfinishedWork unfinished = awaitQuiet(inputs, orderIdPrefix, end);
    Map<TopicPartition, Long> all =
        retrying(
            "end offsets",
            end.plusSeconds(30),
            () -> scenario.kafka().ends(scenario.allPartitions()));
    reader.requireRunning();
    until("all topics to be read", end.plusSeconds(60), () -> reader.hasRead(all));
    Verdict verdict = verdict(orderId -> orderId.startsWith(orderIdPrefix));
    if (!unfinished.isNone()) {
      verdict.add(unfinished.violation());
    }
    checkClocks("at the end");
    clockSkews.forEach(verdict::add);
    return verdict;
  }

  /** Returns what was unfinished last: nothing as soon as everything is finished. */
  private UnfinishedWork awaitQuiet(
      Map<TopicPartition, Long> inputs, String orderIdPrefix, Instant end) {
    // Asked once in any case, however slow the answer is.
    UnfinishedWork first =
        retrying(
            "what is unfinished", end.plusSeconds(30), () -> unfinishedWork(inputs, orderIdPrefix));
    if (first.isNone()) {
      return first;
    }
    AtomicReference<UnfinishedWork> last = new AtomicReference<>(first);
    try {
      until(
          "quiet",
          end,
          () -> {
            UnfinishedWork work = unfinishedWork(inputs, orderIdPrefix);
            last.set(work);
            return work.isNone();
          });
      return UnfinishedWork.NONE;
    } catch (ConditionTimeoutException e) {
      return Objects.requireNonNullElse(last.get(), first);
    }
  }

  private UnfinishedWork unfinishedWork(Map<TopicPartition, Long> inputs, String orderIdPrefix) {
    return new UnfinishedWork(
        scenario.uncommitted(inputs), scenario.database().unpublished(), undecided(orderIdPrefix));
  }

  /** Counts the orders that nothing keeps from being decided, for longer than that. */
  private long overdue(Duration by) {
    return scenario
        .database()
        .count(
            """
            select count(*) from order_deadline d
            where %s
              and not exists (
                select from payment_attempt a where a.order_id = d.order_id
                  -- One that was under way until just now has only just come due.
                  and least(a.until, a.ended_at) > clock_timestamp() - make_interval(secs => ?))
            """
                .formatted(PAST_DEADLINE),
            by.toMillis() / 1e3,
            by.toMillis() / 1e3);
  }

  /**
   * Counts the orders that are still to be decided, be it that a payment is under way until then.
   */
  private long undecided(String orderIdPrefix) {
    return scenario
        .database()
        .count(
            "select count(*) from order_deadline d where %s and starts_with(d.order_id, ?)"
                .formatted(PAST_DEADLINE),
            0.0,
            orderIdPrefix);
  }

  private Verdict verdict(Predicate<String> orderIds) {
    Instant now = scenario.database().now();
    Verdict verdict =
        Verdict.of(
            records.histories(acknowledgements, rows(), parked()).stream()
                .filter(history -> orderIds.test(history.orderId()))
                .toList(),
            now,
            staleBefore,
            new Punctuality(disturbances, allowedLateness));
    DeadLetterJudge deadLetters = records.deadLetters();
    deadLetters.judge().forEach(verdict::add);
    verdict.note(deadLetters + "; " + acknowledgements.unknown() + " events of unknown outcome");
    for (RecordPosition position : acknowledgements.committed()) {
      if (!records.contains(position)) {
        verdict.add(new Violation(Kind.LOST_BY_KAFKA, position.toString(), ""));
      }
    }
    if (forbiddenChanges != null) {
      forbiddenChanges
          .violations(
              orderIds,
              restoredDecisionsAllowed
                  ? new PublishedDecisions(records::isPublished, records::isPublishedAsClosed)
                  : PublishedDecisions.NONE)
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

  private Set<String> parked() {
    return new HashSet<>(
        scenario
            .database()
            .query("select order_id from parked_order", (rs, row) -> rs.getString("order_id")));
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
