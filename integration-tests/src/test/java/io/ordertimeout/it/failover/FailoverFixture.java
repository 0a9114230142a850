package io.ordertimeout.it.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Outcomes;
import io.ordertimeout.it.support.PostgresPair;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.SuspensionRows;
import io.ordertimeout.it.support.TestEnvironment;
import io.ordertimeout.it.traffic.Deadlines;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

/**
 * A scenario on a Postgres primary with a standby. The tests of a class share the pair; before each
 * of them, the primary gets a standby that has everything.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class FailoverFixture {

  private final String kafka = TestEnvironment.shared().bootstrapServers();

  private PostgresPair pair;
  private Scenario scenario;
  private boolean used;

  @BeforeAll
  void startPair() {
    pair = PostgresPair.start();
  }

  @AfterAll
  void stopPair() {
    pair.close();
  }

  @BeforeEach
  void open() {
    if (used) {
      pair.addStandby();
    }
    used = true;
    pair.connectClients();
    scenario = Scenario.on(pair.direct(kafka), pair.proxied(kafka));
  }

  @AfterEach
  void close() {
    scenario.close();
  }

  PostgresPair pair() {
    return pair;
  }

  Scenario scenario() {
    return scenario;
  }

  Database database() {
    return scenario.database();
  }

  Outcomes outcomes() {
    return scenario.outcomes();
  }

  String kafka() {
    return kafka;
  }

  /** The ids of that many orders; order i belongs to partition i modulo their number. */
  static List<String> ids(String prefix, int count) {
    return IntStream.range(0, count).mapToObj(i -> prefix + i).toList();
  }

  /** Publishes orders that are due in an hour, and waits until they are pending. */
  void createPending(List<String> orderIds) {
    Instant deadline = Scenario.in(Duration.ofHours(1));
    for (int i = 0; i < orderIds.size(); i++) {
      scenario.create(orderIds.get(i), i % Scenario.PARTITIONS, deadline);
    }
    awaitStates(orderIds, "PENDING");
  }

  void pay(List<String> orderIds) {
    for (int i = 0; i < orderIds.size(); i++) {
      scenario.pay(orderIds.get(i), i % Scenario.PARTITIONS);
    }
  }

  /** Moves the orders' deadlines to now. */
  void passDeadlines(List<String> orderIds) {
    Deadlines.passNow(database(), orderIds.toArray(String[]::new));
  }

  void awaitStates(List<String> orderIds, String state) {
    await(orderIds + " " + state)
        .until(
            () -> {
              Map<String, String> states = database().states();
              return orderIds.stream().allMatch(order -> state.equals(states.get(order)));
            });
  }

  /** Waits until Postgres has stored all events of the input topics. */
  void awaitStored() {
    awaitPositions("intake_position", scenario.inputEnds());
  }

  /** Waits until positions in Postgres have reached those ends of partitions. */
  void awaitPositions(String table, Map<TopicPartition, Long> ends) {
    await(table + " at the ends of the topics")
        .until(
            () ->
                ends.entrySet().stream()
                    .allMatch(end -> hasReached(table, end.getKey(), end.getValue())));
  }

  private boolean hasReached(String table, TopicPartition partition, long end) {
    return end == 0
        || database()
                .count(
                    "select count(*) from "
                        + table
                        + " where topic = ? and partition = ? and next_offset >= ?",
                    partition.topic(),
                    partition.partition(),
                    end)
            == 1;
  }

  /** Checks that every publication of the order's cancellation says the same, as does its row. */
  void assertCancelledAs(PublishedEvent published) {
    String orderId = published.key();
    assertThat(outcomes().cancelled(orderId))
        .allSatisfy(
            event -> {
              assertThat(event.text("eventId")).isEqualTo(published.text("eventId"));
              assertThat(event.text("cancelledAt")).isEqualTo(published.text("cancelledAt"));
              assertThat(event.text("deadline")).isEqualTo(published.text("deadline"));
            });
    assertThat(database().column(orderId, "state")).as(orderId).isEqualTo("CANCELLED");
    assertThat(
            database()
                .column(
                    orderId, "decided_at = timestamptz '" + published.text("cancelledAt") + "'"))
        .as("the row of %s has the time of %s", orderId, published.body())
        .isEqualTo("true");
  }

  /** Waits for the conflict of the order's payment, and checks that it is the only one. */
  PublishedEvent assertOneConflict(String orderId) {
    PublishedEvent first = outcomes().awaitConflicts(orderId, 1).get(0);
    scenario.awaitQuiet();
    assertThat(outcomes().conflicts(orderId))
        .extracting(event -> event.text("eventId"))
        .containsOnly(first.text("eventId"));
    return first;
  }

  void assertNothingHeld() {
    assertThat(database().count(SuspensionRows.HOLDS_IN_FORCE)).as("holds").isZero();
  }

  /** Cancels a pending order and returns the first publication of that. */
  PublishedEvent cancel(String orderId) {
    Deadlines.passNow(database(), orderId);
    return outcomes().awaitCancelled(orderId);
  }

  /** Waits until Postgres reflects all that was published. */
  void awaitReflected() {
    awaitPositions("published_position", scenario().kafka().ends(cancellations()));
  }

  /** The partitions of the published cancellations. */
  List<TopicPartition> cancellations() {
    return Scenario.partitions(List.of(scenario().topics().cancelled()));
  }
}
