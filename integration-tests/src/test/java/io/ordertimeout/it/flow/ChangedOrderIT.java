package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** What shops ask for: change the deadline or the amount of an order by an event. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ChangedOrderIT {

  private static final Duration SOON = Duration.ofMillis(1_500);
  private static final Duration LATER = Duration.ofHours(1);

  @AutoClose private final Scenario scenario = Scenario.withAllTopics();
  private final Database database = scenario.database();
  private final Service service =
      scenario.startService(
          "order-timeout.deadline.policies[0].name", "transfer",
          "order-timeout.deadline.policies[0].payment-method", "transfer",
          "order-timeout.deadline.policies[0].timeout", "2h",
          "order-timeout.deadline.policies[0].grace", "1d",
          "order-timeout.deadline.policies[0].warnings[0]", "7195s",
          "order-timeout.deadline.policies[1].name", "invoice",
          "order-timeout.deadline.policies[1].payment-method", "invoice",
          "order-timeout.deadline.policies[1].exempt", "true",
          "order-timeout.deadline.policies[2].name", "card",
          "order-timeout.deadline.policies[2].payment-method", "card",
          "order-timeout.deadline.policies[2].timeout", "1h",
          "order-timeout.deadline.policies[2].warnings[0]", "3595s",
          "order-timeout.deadline.policies[2].warnings[1]", "1m");

  @Test
  void aPostponedOrderIsCancelledAtItsNewDeadline() {
    Instant first = create("postponed", SOON);
    Instant second = Scenario.in(SOON.multipliedBy(2));
    change("postponed", Map.of("payBy", second.toString()));

    PublishedEvent cancelled = scenario.outcomes().awaitCancelled("postponed");
    assertThat(second).isAfter(first);
    assertThat(cancelled.instant("deadline")).isEqualTo(second);
    assertThat(cancelled.instant("cancelledAt")).isAfterOrEqualTo(second);
    assertThat(history("postponed"))
        .containsSubsequence("CREATED", "REGISTERED", "CHANGED", "CANCELLED");
    assertThat(known("postponed").path("explanation").asString()).contains("moved by the shop");
  }

  @Test
  void anOrderWhoseDeadlineComesEarlierIsCancelledThen() {
    create("earlier", LATER);
    Instant deadline = Scenario.in(SOON);
    change("earlier", Map.of("payBy", deadline.toString()));

    assertThat(scenario.outcomes().awaitCancelled("earlier").instant("deadline"))
        .isEqualTo(deadline);
    assertThat(service.counter("order.timeout.repaired")).isZero();
  }

  @Test
  void aTimeoutCountsFromTheChangeNotFromItsRecord() {
    create("timeout", LATER);
    Instant changedAt = Scenario.in(Duration.ofMinutes(-10));
    change("timeout", Map.of("changedAt", changedAt.toString(), "timeout", "PT30M"));
    awaitDeadline("timeout", changedAt.plus(Duration.ofMinutes(30)));

    RecordMetadata record = change("timeout", Map.of("timeout", "PT40M"));
    awaitDeadline("timeout", Instant.ofEpochMilli(record.timestamp()).plus(Duration.ofMinutes(40)));
    assertThat(database.column("timeout", "policy")).isEqualTo("TIMEOUT");
  }

  @Test
  void aChangeThatIsReadBeforeItsOrderIsMadeAtTheRegistration() {
    Instant second = Scenario.in(LATER);
    change("early", Map.of("timeout", "PT1S", "channel", "app"));
    change("early", Map.of("payBy", second.toString()));
    scenario.awaitQuiet();
    create("early", SOON);
    scenario.passDeadline("behind early", 0);

    assertThat(database.state("early")).isEqualTo("PENDING");
    assertThat(database.deadline("early")).isEqualTo(second);
    assertThat(database.column("early", "channel")).isEqualTo("app");
    assertThat(events("ahead_of_creation")).isGreaterThanOrEqualTo(2);
    assertThat(history("early")).containsExactly("CREATED", "REGISTERED", "CHANGED", "CHANGED");
  }

  @Test
  void anOrderThatIsReadLongAfterItsFirstDeadlineIsPendingIfItWasPostponed() {
    Instant createdAt = Scenario.in(Duration.ofDays(-30));
    Map<String, String> created =
        Map.of("createdAt", createdAt.toString(), "timeout", "P1D", "channel", "web");
    Instant second = Scenario.in(LATER);
    change("old", Map.of("payBy", second.toString()));
    change("older", Map.of("amount", Map.of("value", "1", "currency", "EUR")));
    scenario.awaitQuiet();
    scenario.shop().created("old", created);
    scenario.shop().created("older", created);

    scenario.awaitState("old", "PENDING");
    assertThat(database.deadline("old")).isEqualTo(second);
    scenario.awaitState("older", "CLOSED");
  }

  @Test
  void theLastChangeInThePartitionCounts() {
    create("often", LATER);
    Instant last = Scenario.in(LATER.multipliedBy(2));
    List<Instant> deadlines = new ArrayList<>(List.of(last.minusSeconds(9), last.minusSeconds(4)));
    deadlines.add(last);
    deadlines.forEach(
        deadline ->
            Objects.requireNonNull(
                scenario
                    .shop()
                    .send(
                        scenario.topics().changed(),
                        "often",
                        Map.of("payBy", deadline.toString()))));

    awaitDeadline("often", last);
    assertThat(changes("often").stream().filter(c -> c.path("details").has("channel"))).isEmpty();
  }

  @Test
  void anAmountAChannelAndAPaymentMethodMoveNothing() {
    Instant deadline = create("other", LATER);
    change(
        "other",
        Map.of(
            "amount", Map.of("value", "12.50", "currency", "CHF"),
            "channel", "app",
            "paymentMethod", "transfer"));

    await().until(() -> "app".equals(database.column("other", "channel")));
    assertThat(database.deadline("other")).isEqualTo(deadline);
    assertThat(database.column("other", "policy")).isEqualTo("PAY_BY");
    assertThat(database.column("other", "grace_seconds")).isNull();
    assertThat(changes("other"))
        .singleElement()
        .satisfies(
            change ->
                assertThat(change.path("details").toString())
                    .contains("12.50 CHF", "\"channel\":\"app\"", "\"paymentMethod\":\"transfer\"")
                    .doesNotContain("before"));
    assertThat(known("other").at("/order/amount/value").asString()).isEqualTo("12.50");
  }

  @Test
  void aPolicyThatTheChangeNamesAppliesFromThenOnAndItsWarningsAreNumberedOn() {
    scenario
        .shop()
        .created(
            "switched",
            Map.of("createdAt", Scenario.in(Duration.ZERO).toString(), "paymentMethod", "card"));
    scenario.outcomes().awaitWarnings("switched", 1);
    RecordMetadata record =
        change("switched", Map.of("policy", "transfer", "paymentMethod", "transfer"));

    Instant deadline = Instant.ofEpochMilli(record.timestamp()).plus(Duration.ofHours(2));
    awaitDeadline("switched", deadline);
    assertThat(database.column("switched", "policy")).isEqualTo("transfer");
    assertThat(database.column("switched", "grace_seconds")).isEqualTo("86400");
    List<PublishedEvent> warnings = scenario.outcomes().awaitWarnings("switched", 2);
    assertThat(warnings).extracting(w -> w.body().path("warning").asInt()).containsExactly(1, 2);
    assertThat(warnings.get(1).instant("deadline")).isEqualTo(deadline);
  }

  @Test
  void aDecidedOrderDoesNotChange() {
    Instant deadline = create("decided", LATER);
    scenario.pay("decided", 0);
    scenario.awaitState("decided", "PAID");
    scenario
        .shop()
        .created(
            "exempt",
            Map.of("createdAt", Scenario.in(Duration.ZERO).toString(), "paymentMethod", "invoice"));
    scenario.awaitState("exempt", "CLOSED");
    change("decided", Map.of("timeout", "PT5M"));
    change("exempt", Map.of("timeout", "PT5M"));

    await().until(() -> events("too_late") > 0 && events("exempt") > 0);
    assertThat(database.deadline("decided")).isEqualTo(deadline);
    assertThat(database.state("exempt")).isEqualTo("CLOSED");
    assertThat(history("decided")).doesNotContain("CHANGED");
  }

  @Test
  void theDeadlineOfAnOperatorCountsUntilTheShopChangesItAgain() {
    create("both", LATER);
    change("both", Map.of("timeout", "PT2H"));
    await().until(() -> !changes("both").isEmpty());
    service
        .http()
        .operator()
        .post(
            "/api/v1/order/extend",
            Map.of(
                "orderId", "both",
                "deadline", Scenario.in(LATER.multipliedBy(4)).toString(),
                "reason", "asked for"))
        .assertOk();
    Instant last = Scenario.in(LATER.multipliedBy(5));
    change("both", Map.of("payBy", last.toString()));

    awaitDeadline("both", last);
    assertThat(history("both"))
        .containsExactly("CREATED", "REGISTERED", "CHANGED", "EXTENDED", "CHANGED");
    assertThat(known("both").path("explanation").asString())
        .contains("moved by the shop and operator");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "nothing | {} | it states none of payBy, timeout, policy, channel, paymentMethod, amount",
        "no unit | {'timeout':900} | timeout is not a string with an ISO-8601 duration: 900",
        "local | {'payBy':'2026-05-01T12:00'} | payBy is a local time",
        "past | {'timeout':'PT0S'} | the payment deadline is not after the change: TIMEOUT PT0S",
        "far | {'payBy':'9999-01-01T00:00:00Z'} | more than PT9600H after the change: PAY_BY",
        "future | {'changedAt':'2999-01-01T00:00:00Z','timeout':'PT1H'} | changedAt is not between",
        "unknown policy | {'policy':'none'} | not among order-timeout.deadline.policies: \"none\"",
        "exempting | {'policy':'invoice'} | names the policy \"invoice\", which exempts orders",
        "two ids | {'orderId':['a','b']} | orderId",
      })
  void anUnusableChangeParksItsOrderAndIsADeadLetter(String orderId, String json, String fault) {
    scenario.createPending(orderId, 0);
    String text = json.replace('\'', '"');
    String event =
        text.contains("orderId")
            ? text
            : "{\"orderId\":\""
                + orderId
                + "\""
                + (text.equals("{}") ? "}" : "," + text.substring(1));
    Shop.await(
        scenario
            .shop()
            .send(
                new ProducerRecord<>(
                    scenario.topics().changed(), Shop.utf8(orderId), Shop.utf8(event))));

    await()
        .untilAsserted(
            () ->
                assertThat(
                        scenario.outcomes().deadLetters(scenario.topics().changed()).stream()
                            .filter(letter -> letter.key().equals(orderId)))
                    .singleElement()
                    .satisfies(
                        letter -> assertThat(letter.header("x-error")).contains(fault, "parked")));
    assertThat(waitsFor(orderId)).contains("parked");
  }

  @Test
  void aChangeWaitsForAnOrderThatIsJustBeingRegisteredElsewhere() throws SQLException {
    Instant deadline = Scenario.in(LATER.multipliedBy(3));
    try (Connection other = transaction();
        Statement statement = other.createStatement()) {
      statement.execute(
          """
          insert into order_deadline (order_id, shard, state, created_at, deadline)
          values ('registered elsewhere', 0, 'PENDING', now(), now() + interval '1 h')
          """);
      change("registered elsewhere", Map.of("payBy", deadline.toString()));
      awaitBlocked();
      other.commit();
    }

    awaitDeadline("registered elsewhere", deadline);
  }

  @Test
  void aRegistrationWaitsForAChangeThatIsJustBeingStoredElsewhere() throws SQLException {
    Instant deadline = Scenario.in(LATER.multipliedBy(3));
    try (Connection other = transaction();
        Statement statement = other.createStatement()) {
      statement.execute(
          "insert into order_change (order_id, changed_at, deadline, set_by, has_policy)"
              + " values ('changed elsewhere', now(), '%s', 'PAY_BY', false)".formatted(deadline));
      statement.execute(
          "insert into order_deadline (order_id, shard, state, decided_at, decided_by)"
              + " values ('changed elsewhere', -1, 'CLOSED', now(), 'CLOSING')");
      statement.execute("delete from order_deadline where order_id = 'changed elsewhere'");
      Objects.requireNonNull(
          scenario
              .shop()
              .send(
                  scenario.topics().created(),
                  "changed elsewhere",
                  Map.of("createdAt", Scenario.in(Duration.ZERO).toString(), "timeout", "PT5M")));
      awaitBlocked();
      other.commit();
    }

    awaitDeadline("changed elsewhere", deadline);
  }

  private Connection transaction() throws SQLException {
    Connection connection = database.connect();
    connection.setAutoCommit(false);
    return connection;
  }

  private void awaitBlocked() {
    await("a statement that waits for the other transaction")
        .until(
            () ->
                database.count(
                        "select count(*) from pg_stat_activity"
                            + " where datname = current_database() and wait_event_type = 'Lock'")
                    > 0);
  }

  /** Creates an order with a deadline of its own, in any partition. */
  private Instant create(String orderId, Duration untilDeadline) {
    Instant deadline = Scenario.in(untilDeadline);
    scenario
        .shop()
        .created(
            orderId,
            Map.of(
                "createdAt", Scenario.in(Duration.ZERO).toString(), "payBy", deadline.toString()));
    return deadline;
  }

  private RecordMetadata change(String orderId, Map<String, ?> fields) {
    return scenario.shop().changed(orderId, fields);
  }

  private void awaitDeadline(String orderId, Instant deadline) {
    await("the deadline " + deadline).until(() -> deadline.equals(database.deadline(orderId)));
  }

  private double events(String outcome) {
    return service.counter("order.timeout.events", "event", "changed", "outcome", outcome);
  }

  private List<String> waitsFor(String orderId) {
    return nodes(known(orderId).path("waitsFor")).stream()
        .map(node -> node.path("type").asString())
        .toList();
  }

  private List<String> history(String orderId) {
    return nodes(known(orderId).path("history")).stream()
        .map(node -> node.path("what").asString())
        .toList();
  }

  private List<JsonNode> changes(String orderId) {
    return nodes(known(orderId).path("history")).stream()
        .filter(node -> node.path("what").asString().equals("CHANGED"))
        .toList();
  }

  private JsonNode known(String orderId) {
    return service.http().viewer().get("/api/v1/order", "id", orderId).assertOk().json();
  }

  private static List<JsonNode> nodes(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false).toList();
  }
}
