package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.JsonNode;

/**
 * What shops ask for: ask before cancelling, and close the payment at the provider before the
 * order. The last warning is the question; the answer is that nothing can be paid any more.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConfirmationIT {

  private static final Duration CONFIRM = Duration.ofSeconds(6);
  private static final Map<String, String> ANSWER = Map.of("status", "ENDED");

  @AutoClose private final Scenario scenario = Scenario.withAllTopics();
  private final Service service =
      scenario.startService(
          "order-timeout.deadline.policies[0].name", "card",
          "order-timeout.deadline.policies[0].payment-method", "card",
          "order-timeout.deadline.policies[0].timeout", "1h",
          "order-timeout.deadline.policies[0].warnings[0]", "2s",
          "order-timeout.deadline.policies[0].warnings[1]", "1s",
          "order-timeout.deadline.policies[0].confirm", "1h",
          "order-timeout.deadline.policies[1].name", "wallet",
          "order-timeout.deadline.policies[1].payment-method", "wallet",
          "order-timeout.deadline.policies[1].timeout", "1h",
          "order-timeout.deadline.policies[1].warnings[0]", "1s",
          "order-timeout.deadline.policies[1].confirm", "6s",
          "order-timeout.deadline.policies[2].name", "invoice",
          "order-timeout.deadline.policies[2].payment-method", "invoice",
          "order-timeout.deadline.policies[2].timeout", "1h",
          "order-timeout.deadline.policies[2].warnings[0]", "20m",
          "order-timeout.deadline.policies[2].warnings[1]", "10m",
          "order-timeout.deadline.policies[2].confirm", "1h",
          "order-timeout.deadline.policies[3].name", "other",
          "order-timeout.deadline.policies[3].timeout", "1h",
          "order-timeout.deadline.policies[3].warnings[0]", "1s",
          "order-timeout.deadline.policies[3].confirm", "6s",
          "order-timeout.deadline.policies[3].unconfirmed", "cancel",
          "order-timeout.reconciler.overdue-after", "1s");

  @Test
  void anOrderIsCancelledOnceTheShopHasClosedThePaymentAtItsProvider() {
    Instant deadline = create("answered", "card");
    List<PublishedEvent> warnings = scenario.outcomes().awaitWarnings("answered", 2);
    assertThat(warnings.get(0).body().has("confirmBy")).isFalse();
    assertThat(warnings.get(1).instant("confirmBy")).isEqualTo(deadline.plus(Duration.ofHours(1)));
    scenario.awaitPast(deadline);
    scenario.passDeadline("behind answered", 0);
    assertThat(scenario.database().state("answered")).isEqualTo("PENDING");
    assertThat(known("answered").path("waitsFor").toString()).contains("confirmation");
    assertThat(service.gauge("order.timeout.overdue")).isZero();

    Instant answeredAt =
        Instant.ofEpochMilli(scenario.shop().attempt("answered", ANSWER).timestamp());
    assertThat(scenario.outcomes().awaitCancelled("answered").instant("cancelledAt"))
        .isBetween(answeredAt, deadline.plus(Duration.ofHours(1)));
    assertThat(known("answered").path("history").toString())
        .contains("WARNED", "ATTEMPT_ENDED", "CANCELLED");
  }

  @Test
  void anAnswerBeforeTheDeadlineDoesNotCancelEarlier() {
    Instant deadline = create("early answer", "card");
    scenario.outcomes().awaitWarnings("early answer", 1);
    scenario.shop().attempt("early answer", ANSWER);

    assertThat(scenario.outcomes().awaitCancelled("early answer").instant("cancelledAt"))
        .isBetween(deadline, deadline.plus(Duration.ofHours(1)));
  }

  @Test
  void anOrderThatIsPaidInsteadOfAnsweredIsPaid() {
    Instant deadline = create("paid", "card");
    scenario.outcomes().awaitWarnings("paid", 2);
    scenario.awaitPast(deadline);
    scenario.pay("paid", 0);

    scenario.awaitState("paid", "PAID");
    assertThat(scenario.outcomes().cancelled("paid")).isEmpty();
  }

  @Test
  void anOrderThatNobodyConfirmsIsParkedAndCancelledOnlyWhenAnOperatorReleasesIt() {
    Instant deadline = create("unanswered", "wallet");
    await("the order to be parked").until(() -> parked("unanswered") == 1);
    assertThat(scenario.database().now()).isAfter(deadline.plus(CONFIRM));
    assertThat(scenario.database().state("unanswered")).isEqualTo("PENDING");
    assertThat(known("unanswered").path("explanation").asString())
        .contains("nobody has confirmed in time that nothing can be paid any more");

    service
        .http()
        .operator()
        .post(
            "/api/v1/order/release",
            Map.of("orderId", "unanswered", "reason", "closed at the provider by hand"))
        .assertOk();
    scenario.outcomes().awaitCancelled("unanswered");
  }

  @Test
  void anOrderThatNobodyConfirmsIsCancelledIfItsPolicySaysSo() {
    Instant deadline = create("cancelled anyway", "voucher");

    assertThat(scenario.outcomes().awaitCancelled("cancelled anyway").instant("cancelledAt"))
        .isAfterOrEqualTo(deadline.plus(CONFIRM));
    assertThat(parked("cancelled anyway")).isZero();
  }

  @Test
  void anAnswerWhileAPaymentIsUnderWayEndsIt() {
    Instant deadline = create("under way", "card");
    scenario
        .shop()
        .attempt(
            "under way",
            Map.of(
                "attemptId", "pi-1",
                "status", "STARTED",
                "until", deadline.plus(Duration.ofMinutes(30)).toString()));
    scenario.outcomes().awaitWarnings("under way", 2);
    scenario.shop().attempt("under way", ANSWER);

    assertThat(scenario.outcomes().awaitCancelled("under way").instant("cancelledAt"))
        .isBetween(deadline, deadline.plus(Duration.ofMinutes(30)));
  }

  @Test
  void anOrderThatIsReadLateIsAskedAboutAtOnce() {
    Instant deadline = Scenario.in(Duration.ofMinutes(5));
    scenario
        .shop()
        .created("late", Map.of("payBy", deadline.toString(), "paymentMethod", "invoice"));

    assertThat(scenario.outcomes().awaitWarnings("late", 1))
        .singleElement()
        .satisfies(event -> assertThat(event.body().path("warning").intValue()).isEqualTo(2));
  }

  private Instant create(String orderId, String paymentMethod) {
    Instant deadline = Scenario.in(Duration.ofSeconds(3));
    scenario
        .shop()
        .created(orderId, Map.of("payBy", deadline.toString(), "paymentMethod", paymentMethod));
    return deadline;
  }

  private long parked(String orderId) {
    return scenario
        .database()
        .count("select count(*) from parked_order where order_id = ?", orderId);
  }

  private JsonNode known(String orderId) {
    return service.http().viewer().get("/api/v1/order", "id", orderId).assertOk().json();
  }
}
