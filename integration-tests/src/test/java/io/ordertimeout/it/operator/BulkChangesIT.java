package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.JsonNode;

/** Changes of many orders by one request. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BulkChangesIT {

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Service service = scenario.startService();
  private final Http viewer = service.http().viewer();

  @BeforeAll
  void createAnOrder() {
    scenario.createPending("other", 0);
  }

  @Test
  void manyOrdersAreChangedByOneRequestThatCanBeRepeated() {
    for (String id : List.of("bulk-1", "bulk-2", "bulk-paid")) {
      scenario.create(id, 0, Scenario.in(Duration.ofHours(2)));
      scenario.awaitState(id, "PENDING");
    }
    scenario.pay("bulk-paid", 0);
    scenario.awaitState("bulk-paid", "PAID");
    Http operator = service.http().operator().with("Idempotency-Key", "bulk");
    List<String> ids = List.of("bulk-1", "bulk-paid", "nobody's", "bulk-2", "bulk-1");
    Map<String, Object> extension =
        Map.of(
            "orderIds",
            ids,
            "deadline",
            Scenario.in(Duration.ofHours(3)).toString(),
            "reason",
            "the provider was down");

    Answer extended = operator.post("/api/v1/orders/extend", extension).assertOk();
    assertThat(outcomes(extended))
        .containsExactly(
            "bulk-1 CHANGED", "bulk-paid IMPOSSIBLE", "nobody's UNKNOWN", "bulk-2 CHANGED");
    assertThat(extended.json().at("/data/1/detail").asString()).contains("never changed");
    assertThat(extended.json().at("/data/0/order/state").asString()).isEqualTo("PENDING");
    Answer again = operator.post("/api/v1/orders/extend", extension).assertOk();
    assertThat(again.header("Idempotent-Replayed")).isEqualTo("true");
    assertThat(outcomes(again)).contains("bulk-1 UNCHANGED", "bulk-2 UNCHANGED");
    assertThat(
            scenario
                .database()
                .count("select count(*) from operator_action where subject like 'bulk-%'"))
        .isEqualTo(2);

    Answer other =
        operator.post(
            "/api/v1/orders/close", Map.of("orderIds", List.of("bulk-2"), "reason", "another"));
    assertThat(other.status()).isEqualTo(409);
    Http another = service.http().operator();
    another
        .post("/api/v1/orders/close", Map.of("orderIds", List.of("bulk-2"), "reason", "in cash"))
        .assertOk();
    another
        .post("/api/v1/orders/cancel", Map.of("orderIds", List.of("bulk-1"), "reason", "fraud"))
        .assertOk();
    scenario.outcomes().awaitCancelled("bulk-1");
    assertThat(scenario.database().state("bulk-2")).isEqualTo("CLOSED");
    assertThat(
            viewer
                .post("/api/v1/orders/close", Map.of("orderIds", List.of("other"), "reason", "x"))
                .status())
        .isEqualTo(403);
    assertThat(
            another
                .post("/api/v1/orders/close", Map.of("orderIds", List.of(), "reason", "x"))
                .status())
        .isEqualTo(400);

    scenario.pay("bulk-1", 0);
    scenario.pay("bulk-2", 0);
    await("the conflicts").until(() -> conflicts("limit", "1").path("next").isString());
    JsonNode second = conflicts("limit", "1");
    JsonNode first = conflicts("limit", "1", "after", second.path("next").asString());
    assertThat(
            List.of(
                second.at("/data/0/orderId").asString() + second.at("/data/0/state").asString(),
                first.at("/data/0/orderId").asString() + first.at("/data/0/state").asString()))
        .containsExactlyInAnyOrder("bulk-1CANCELLED", "bulk-2CLOSED");
    assertThat(first.path("next").isNull()).isTrue();
    assertThat(first.at("/data/0/kind").asString())
        .isIn("PAID_LATE", "PAID_IN_TIME_DELIVERED_LATE");
  }

  private JsonNode conflicts(String... query) {
    return viewer.get("/api/v1/conflicts", query).assertOk().json();
  }

  private static List<String> outcomes(Answer answer) {
    return answer
        .json()
        .path("data")
        .valueStream()
        .map(r -> r.path("orderId").asString() + " " + r.path("outcome").asString())
        .toList();
  }
}
