package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.JsonNode;

/** One order: what the API reports about it, and what an operator can do to it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OrderLookupIT {

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Service service = scenario.startService();
  private final Http operator = service.http().operator();

  @Test
  void aCancelledOrderReportsItsWholeHistory() {
    scenario
        .shop()
        .created(
            "whole history",
            Map.of(
                "timeout",
                "PT0.5S",
                "channel",
                "web",
                "amount",
                Map.of("value", 12.5, "currency", "EUR")));
    scenario.outcomes().awaitCancelled("whole history");
    // Until the publication is stored, too.
    scenario.awaitQuiet();
    scenario.shop().paid("whole history", "too late");
    scenario.outcomes().awaitConflicts("whole history", 1);

    await("the publications to be recorded")
        .untilAsserted(
            () ->
                assertThat(history("whole history"))
                    .containsExactly(
                        "CREATED",
                        "REGISTERED",
                        "CANCELLED",
                        "PUBLISHED",
                        "CONFLICT",
                        "CONFLICT_PUBLISHED"));
    JsonNode known = known("whole history");
    assertThat(known.at("/order/state").asString()).isEqualTo("CANCELLED");
    assertThat(known.at("/order/amount/value").stringValue()).isEqualTo("12.5");
    assertThat(known.at("/order/decidedBy").asString()).isEqualTo("EXPIRY");
    assertThat(known.at("/waitsFor")).isEmpty();
    String eventId = scenario.outcomes().awaitCancelled("whole history").text("eventId");
    assertThat(known.at("/history/3/details/eventId").asString()).isEqualTo(eventId);
    assertThat(known.at("/explanation").asString())
        .startsWith("Not paid by ")
        .contains(" later as event " + eventId, "payment “too late”", "the conflict was published");

    assertThat(known.at("/history/3/details/record").asString())
        .isEqualTo(position(scenario.outcomes().awaitCancelled("whole history")));
    assertThat(known.at("/history/5/details/record").asString())
        .isEqualTo(position(scenario.outcomes().awaitConflicts("whole history", 1).get(0)));
  }

  private static String position(PublishedEvent event) {
    return "%s-%d@%d"
        .formatted(event.record().topic(), event.record().partition(), event.record().offset());
  }

  @Test
  void aParkingAndAReplayedPaymentStayInTheHistory() {
    scenario.shop().created("replayed", Map.of("timeout", "PT1H"));
    scenario.awaitState("replayed", "PENDING");
    String unusable = "{\"order\":\"replayed\"}";
    Shop.await(
        scenario
            .shop()
            .send(
                new ProducerRecord<>(
                    scenario.topics().paid(), Shop.utf8("replayed"), Shop.utf8(unusable))));
    await("the parking")
        .until(() -> known("replayed").at("/explanation").asString().contains("; parked at "));
    String deadLetters = scenario.topics().paid() + ".dlt";
    JsonNode letter =
        await("the dead letter")
            .until(
                () -> operator.get("/api/v1/dead-letters/" + deadLetters).json().at("/data/0"),
                found -> !found.isMissingNode());
    operator
        .post("/api/v1/order/release", Map.of("orderId", "replayed", "reason", "corrected"))
        .assertOk();
    operator
        .post(
            "/api/v1/dead-letters/%s/%s/%s/replay"
                .formatted(deadLetters, letter.path("partition"), letter.path("offset")),
            Map.of(
                "value",
                "{\"orderId\":\"replayed\",\"paymentId\":\"p\"}",
                "reason",
                "the field was misspelt"))
        .assertOk();
    scenario.awaitState("replayed", "PAID");
    scenario.shop().paid("replayed", "p");
    scenario.shop().paid("replayed", "q");

    await("the payments without effect")
        .untilAsserted(
            () ->
                assertThat(history("replayed"))
                    .containsExactlyInAnyOrder(
                        "CREATED",
                        "REGISTERED",
                        "PARKED",
                        "RELEASED",
                        "REPLAYED",
                        "PAID",
                        "REDELIVERED",
                        "PAYMENT_WITHOUT_EFFECT"));
    JsonNode known = known("replayed");
    assertThat(known.at("/history/2/details/reason").asString()).contains("cannot be decoded");
    assertThat(known.at("/explanation").asString())
        .startsWith("Paid in time: payment “p”")
        .contains("delivered again", "second payment “q”", "replayed dead letter “" + deadLetters);
  }

  @Test
  void aPendingOrderWaitsForItsPaymentDeadline() {
    scenario.shop().created("waits", Map.of("timeout", "PT1H"));
    scenario.awaitState("waits", "PENDING");

    JsonNode known = known("waits");
    assertThat(known.at("/waitsFor")).hasSize(1);
    assertThat(known.at("/waitsFor/0/type").asString()).isEqualTo("payment-deadline");
    assertThat(Instant.parse(known.at("/waitsFor/0/dueAt").asString()))
        .isEqualTo(Instant.parse(known.at("/order/deadline").asString()));
  }

  @Test
  void anOrderIdMayContainAnyCharacters() {
    String orderId = "a/b;c%2F?d=é&\\ \u202E'\"<script>";
    scenario.shop().created(orderId, Map.of("timeout", "PT1H"));
    scenario.awaitState(orderId, "PENDING");

    assertThat(known(orderId).at("/order/orderId").asString()).isEqualTo(orderId);
    Answer closed = operator.post("/api/v1/order/close", Map.of("orderId", orderId, "reason", "x"));
    assertThat(closed.status()).isEqualTo(200);
    assertThat(scenario.database().state(orderId)).isEqualTo("CLOSED");
  }

  @Test
  void anExtendedOrderIsCancelledAtItsNewDeadline() {
    Instant begin = Instant.now();
    scenario.createPending("warm-up", 0);
    Duration step = Duration.between(begin, Instant.now());
    // Late enough that the order is extended first, however slow the machine is.
    Instant first = Scenario.in(step.multipliedBy(4).plusSeconds(1));
    Instant later = first.plusSeconds(2);
    scenario.create("extended", 0, first);
    scenario.create("not extended", 0, first);
    scenario.awaitState("extended", "PENDING");

    Answer answer = extend(operator, "extended", later).assertOk();
    assertThat(Instant.parse(answer.json().at("/order/deadline").asString())).isEqualTo(later);
    scenario.outcomes().awaitCancelled("not extended");

    assertThat(scenario.outcomes().awaitCancelled("extended").instant("deadline")).isEqualTo(later);
    assertThat(scenario.outcomes().cancelled("extended")).hasSize(1);
    JsonNode known = known("extended");
    assertThat(Instant.parse(known.at("/history/1/details/deadline").asString())).isEqualTo(first);
    assertThat(known.at("/history/2/what").asString()).isEqualTo("EXTENDED");
    assertThat(Instant.parse(known.at("/history/2/details/before").asString())).isEqualTo(first);
    assertThat(Instant.parse(known.at("/history/2/details/after").asString())).isEqualTo(later);
    assertThat(service.counter("order.timeout.repaired")).isZero();
  }

  @Test
  void anOrderWithAFarDeadlineIsCancelledOnRequestThroughTheWatermark() {
    scenario.shop().created("cancel now", Map.of("timeout", "PT1H"));
    scenario.awaitState("cancel now", "PENDING");

    Answer answer =
        operator.post("/api/v1/order/cancel", Map.of("orderId", "cancel now", "reason", "fraud"));
    assertThat(answer.status()).isEqualTo(200);
    scenario.outcomes().awaitCancelled("cancel now");
    await("the publication to be recorded")
        .untilAsserted(
            () ->
                assertThat(history("cancel now"))
                    .containsExactly(
                        "CREATED",
                        "REGISTERED",
                        "CANCELLATION_REQUESTED",
                        "CANCELLED",
                        "PUBLISHED"));
  }

  @Test
  void aDecisionCannotBeChanged() {
    scenario.shop().created("paid", Map.of("timeout", "PT1H"));
    scenario.shop().paid("paid", "p");
    scenario.awaitState("paid", "PAID");

    for (String path : List.of("/api/v1/order/close", "/api/v1/order/cancel")) {
      Answer answer = operator.post(path, Map.of("orderId", "paid", "reason", "x"));
      assertThat(answer.status()).isEqualTo(409);
      assertThat(answer.header("Content-Type")).startsWith("application/problem+json");
      assertThat(answer.json().at("/detail").asString()).contains("PAID", "never changed");
    }
    assertThat(extend(operator, "paid", Scenario.in(Duration.ofHours(2))).status()).isEqualTo(409);
    assertThat(scenario.database().state("paid")).isEqualTo("PAID");
  }

  @Test
  void aDeadlineCannotMoveBackOrBeyondBounds() {
    scenario.shop().created("bounded", Map.of("timeout", "PT1H"));
    scenario.awaitState("bounded", "PENDING");

    assertThat(extend(operator, "bounded", Instant.now()).json().at("/detail").asString())
        .contains("not later than");
    assertThat(extend(operator, "bounded", Instant.parse("2999-01-01T00:00:00Z")).status())
        .isEqualTo(409);
    assertThat(extend(operator, "nobody's", Scenario.in(Duration.ofHours(2))).status())
        .isEqualTo(404);
    assertThat(operator.post("/api/v1/order/extend", Map.of("orderId", "bounded")).status())
        .isEqualTo(400);
  }

  @Test
  void aRepeatedRequestTakesEffectAndIsAuditedOnce() {
    scenario.shop().created("twice", Map.of("timeout", "PT1H"));
    scenario.awaitState("twice", "PENDING");
    Instant later = Scenario.in(Duration.ofHours(2));
    Http keyed = operator.with("Idempotency-Key", "key-1");

    Answer first = extend(keyed, "twice", later);
    Answer second = extend(keyed, "twice", later);
    Answer natural = extend(operator, "twice", later);
    Answer other = extend(keyed, "twice", later.plusSeconds(60));

    assertThat(first.header("Idempotent-Replayed")).isEmpty();
    for (Answer again : List.of(second, natural)) {
      assertThat(again.header("Idempotent-Replayed")).isEqualTo("true");
      assertThat(again.json()).isEqualTo(first.json());
    }
    assertThat(other.status()).isEqualTo(409);
    assertThat(other.json().at("/detail").asString()).contains("was used for a different request");
    JsonNode audit = operator.get("/api/v1/audit", "subject", "twice").json().path("data");
    assertThat(audit).hasSize(1);
    assertThat(audit.at("/0/reason").asString()).isEqualTo("the customer asked");
    assertThat(audit.at("/0/before/deadline").asString()).isNotEmpty();
    assertThat(Instant.parse(audit.at("/0/after/deadline").asString())).isEqualTo(later);
  }

  private static Answer extend(Http http, String orderId, Instant deadline) {
    return http.post(
        "/api/v1/order/extend",
        Map.of(
            "orderId", orderId, "deadline", deadline.toString(), "reason", "the customer asked"));
  }

  private JsonNode known(String orderId) {
    return service.http().viewer().get("/api/v1/order", "id", orderId).assertOk().json();
  }

  private List<String> history(String orderId) {
    return StreamSupport.stream(known(orderId).at("/history").spliterator(), false)
        .map(entry -> entry.path("what").asString())
        .toList();
  }
}
