package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/**
 * What shops ask for: never cancel an order while it is being paid, and keep it while the customer
 * is active.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PaymentUnderWayIT {

  private static final Duration HOLD = Duration.ofSeconds(3);
  private static final Duration CAP = Duration.ofSeconds(15);

  @AutoClose private final Scenario scenario = Scenario.withAllTopics();
  private final Service service =
      scenario.startService(
          "order-timeout.attempts.hold", HOLD.toSeconds() + "s",
          "order-timeout.attempts.cap", CAP.toSeconds() + "s",
          "order-timeout.reconciler.interval", "1s",
          "order-timeout.reconciler.confirm-after", "1s",
          "order-timeout.reconciler.overdue-after", "1s");

  @Test
  void anOrderThatIsBeingPaidAtItsDeadlineIsNotCancelledAndCanStillBePaid() {
    Instant deadline = create("being paid");
    start("being paid", "pi-1");
    awaitHeld("being paid", deadline);
    scenario.awaitPast(deadline.plus(HOLD.dividedBy(2)));

    assertThat(scenario.database().state("being paid")).isEqualTo("PENDING");
    assertThat(service.gauge("order.timeout.overdue")).isZero();
    assertThat(service.gauge("order.timeout.suspended")).isZero();
    assertThat(waitsFor("being paid")).contains("payment-under-way");
    scenario.pay("being paid", 0);
    scenario.awaitState("being paid", "PAID");
    assertThat(scenario.outcomes().cancelled("being paid")).isEmpty();
    assertThat(history("being paid")).containsSubsequence("ATTEMPT_STARTED", "PAID");
  }

  @Test
  void anOrderIsCancelledAtOnceWhenItsPaymentHasFailed() {
    Instant deadline = create("failed");
    startUntil("failed", "pi-1", deadline.plus(Duration.ofDays(1)));
    awaitHeld("failed", deadline);
    Instant ended = end("failed", Map.of("attemptId", "pi-1"));

    assertThat(cancelledAt("failed")).isBetween(ended, deadline.plus(CAP));
    assertThat(history("failed"))
        .containsSubsequence("ATTEMPT_STARTED", "ATTEMPT_ENDED", "CANCELLED");
  }

  @Test
  void anAbandonedPaymentKeepsItsOrderForAWhileOnly() {
    create("abandoned");
    Instant started = start("abandoned", "pi-1");

    assertThat(cancelledAt("abandoned")).isAfterOrEqualTo(started.plus(HOLD));
  }

  @Test
  void anOrderIsHeldUntilTheLastOfSeveralAttemptsHasEnded() {
    Instant deadline = create("twice");
    startUntil("twice", "pi-1", deadline.plus(CAP));
    startUntil("twice", "pi-2", deadline.plus(CAP));
    end("twice", Map.of("attemptId", "pi-1"));
    awaitHeld("twice", deadline);

    Instant ended = end("twice", Map.of("attemptId", "pi-2"));
    Instant cancelledAt = cancelledAt("twice");
    assertThat(cancelledAt).isBetween(ended, deadline.plus(CAP));
    assertThat(service.lateByMillis("twice"))
        .isEqualTo(Duration.between(ended, cancelledAt).toMillis());
  }

  /** Kafka's clock, by which an attempt ends, may be ahead of that of Postgres. */
  @Test
  void anOrderIsNotCancelledBeforeItWasDueThoughItsAttemptEndedInTheFuture() {
    scenario
        .database()
        .execute(
            "insert into payment_attempt (order_id, attempt_id, ended_at)"
                + " values ('ahead', 'pi-1', now() + interval '1 day')");
    create("ahead");

    scenario.outcomes().awaitCancelled("ahead");
    assertThat(service.lateByMillis("ahead")).isZero();
  }

  @Test
  void anEndWithoutAnIdEndsAllAttempts() {
    Instant deadline = create("all");
    startUntil("all", "pi-1", deadline.plus(CAP));
    startUntil("all", "pi-2", deadline.plus(CAP));
    attempt("all", Map.of("status", "STARTED", "until", deadline.plus(CAP).toString()));
    end("all", Map.of());

    assertThat(cancelledAt("all")).isBefore(deadline.plus(CAP));
  }

  @Test
  void anActiveCustomerRenewsTheAttemptUpToTheCap() {
    Duration latenessBefore = service.timeInTimers("order.timeout.lateness");
    Instant deadline = create("active");
    startUntil("active", "cart", deadline.plus(HOLD));
    scenario.awaitPast(deadline);
    startUntil("active", "cart", Instant.parse("9999-12-31T00:00:00Z"));

    assertThat(cancelledAt("active")).isAfterOrEqualTo(deadline.plus(CAP));
    await("the measurement of its lateness, from the end of the attempt")
        .until(
            () -> service.timeInTimers("order.timeout.lateness").minus(latenessBefore),
            lateness -> !lateness.isZero() && lateness.compareTo(CAP) < 0);
    assertThat(service.counter("order.timeout.repaired")).isZero();
  }

  @Test
  void anAttemptThatIsReadBeforeItsOrderHoldsIt() {
    Instant started = start("early", "pi-1");
    scenario.awaitQuiet();
    Instant deadline = create("early");

    assertThat(cancelledAt("early"))
        .isAfterOrEqualTo(deadline)
        .isAfterOrEqualTo(started.plus(HOLD));
    assertThat(events("ahead_of_creation")).isPositive();
  }

  @Test
  void anAttemptThatStartsAgainAfterItsEndHoldsTheOrderAgain() {
    create("again");
    start("again", "pi-1");
    end("again", Map.of("attemptId", "pi-1"));
    Instant again = start("again", "pi-1");

    assertThat(cancelledAt("again")).isAfterOrEqualTo(again.plus(HOLD));
  }

  @Test
  void anAttemptOfADecidedOrderChangesNothing() {
    scenario.create("decided", 0, Scenario.in(Duration.ofHours(1)));
    scenario.pay("decided", 0);
    start("decided", "pi-1");
    scenario.awaitQuiet();

    assertThat(scenario.database().state("decided")).isEqualTo("PAID");
    assertThat(events("too_late")).isPositive();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "without status | {'orderId':'%s'} | status is missing, not STARTED or ENDED",
        "unknown status | {'orderId':'%s','status':'BEGUN'} | status is \"BEGUN\", not STARTED",
        "local until | {'orderId':'%s','status':'STARTED','until':'2026-05-01T12:00'} | until is a",
        "late until | {'orderId':'%s','status':'STARTED','until':'+12000-01-01T00:00Z'} | until",
        "unclear end | {'orderId':'%s','status':'ENDED','attemptId':5} | attemptId is not a string",
        "no JSON | {'orderId':'%s' | ",
      })
  void anUnusableAttemptHoldsItsOrderForTheDefaultTimeAndIsADeadLetter(
      String orderId, String value, String fault) {
    create(orderId);
    String text = value.formatted(orderId).replace('\'', '"');
    Instant sent =
        Instant.ofEpochMilli(
            Shop.await(
                    scenario
                        .shop()
                        .send(
                            new ProducerRecord<>(
                                scenario.topics().attempts(), 0, utf8(orderId), utf8(text))))
                .timestamp());

    assertThat(cancelledAt(orderId)).isAfterOrEqualTo(sent.plus(HOLD));
    assertThat(
            scenario.outcomes().deadLetters(scenario.topics().attempts()).stream()
                .filter(letter -> letter.key().equals(orderId)))
        .singleElement()
        .satisfies(
            letter ->
                assertThat(letter.header("x-error"))
                    .contains(fault == null ? "" : fault)
                    .endsWith("; it counts as an attempt that started, for PT3S"));
  }

  @Test
  void anAttemptThatIsOverBeforeItIsReadHoldsNothing() {
    scenario.createPending("over", 0);
    scenario.createPending("under way", 0);
    startUntil("over", "pi-1", Scenario.in(Duration.ofMinutes(-1)));
    startUntil("under way", "pi-1", Scenario.in(Duration.ofMinutes(1)));
    scenario.awaitQuiet();

    assertThat(waitsFor("over")).containsExactly("payment-deadline");
    assertThat(waitsFor("under way")).containsExactly("payment-deadline", "payment-under-way");
  }

  private static byte[] utf8(String text) {
    return Shop.utf8(text);
  }

  /** Creates an order that is due in a moment, like all others in the first partition. */
  private Instant create(String orderId) {
    Instant deadline = Scenario.in(Duration.ofMillis(700));
    scenario.create(orderId, 0, deadline);
    return deadline;
  }

  /** Waits until an order was due and is held. */
  private void awaitHeld(String orderId, Instant deadline) {
    scenario.awaitPast(deadline);
    scenario.passDeadline("behind " + orderId, 0);
    assertThat(scenario.database().state(orderId)).isEqualTo("PENDING");
  }

  private RecordMetadata attempt(String orderId, Map<String, String> fields) {
    Map<String, String> event = new HashMap<>(fields);
    event.put("orderId", orderId);
    return Shop.await(
        scenario
            .shop()
            .send(
                new ProducerRecord<>(
                    scenario.topics().attempts(), 0, utf8(orderId), Shop.json(event))));
  }

  private Instant start(String orderId, String attemptId) {
    return at(attempt(orderId, Map.of("attemptId", attemptId, "status", "STARTED")));
  }

  private void startUntil(String orderId, String attemptId, Instant until) {
    attempt(
        orderId, Map.of("attemptId", attemptId, "status", "STARTED", "until", until.toString()));
  }

  private Instant end(String orderId, Map<String, String> fields) {
    Map<String, String> event = new HashMap<>(fields);
    event.put("status", "ENDED");
    return at(attempt(orderId, event));
  }

  private static Instant at(RecordMetadata record) {
    return Instant.ofEpochMilli(record.timestamp());
  }

  private Instant cancelledAt(String orderId) {
    PublishedEvent event = scenario.outcomes().awaitCancelled(orderId);
    return event.instant("cancelledAt");
  }

  private double events(String outcome) {
    return service.counter("order.timeout.events", "event", "attempt", "outcome", outcome);
  }

  private List<String> waitsFor(String orderId) {
    return texts(known(orderId).path("waitsFor"), "type");
  }

  private List<String> history(String orderId) {
    return texts(known(orderId).path("history"), "what");
  }

  private JsonNode known(String orderId) {
    return service.http().viewer().get("/api/v1/order", "id", orderId).assertOk().json();
  }

  private static List<String> texts(JsonNode nodes, String field) {
    return StreamSupport.stream(nodes.spliterator(), false)
        .map(node -> node.path(field).asString())
        .toList();
  }
}
