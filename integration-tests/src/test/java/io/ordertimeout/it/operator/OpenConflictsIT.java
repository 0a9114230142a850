package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.JsonNode;

/** What shops ask for: when money comes too late, somebody has to see to it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OpenConflictsIT {

  private static final String RESOLVE = "/api/v1/conflicts/resolve";

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Service service = scenario.startService();
  private final Http operator = service.http().operator();

  @Test
  void aLatePaymentIsOpenUntilSomebodySaysWhatBecameOfTheMoney() {
    payLate("late", "CHF");
    await()
        .untilAsserted(
            () -> {
              assertThat(service.gauge("order.timeout.open.conflicts")).isPositive();
              assertThat(service.gauge("order.timeout.open.conflict.age")).isPositive();
              assertThat(service.gauge("order.timeout.open.conflict.amount", "currency", "CHF"))
                  .isEqualTo(59.9);
            });
    assertThat(open("late")).hasSize(1);
    assertThat(open("late").get(0).at("/amount/value").asString()).isEqualTo("59.90");

    JsonNode ended = resolve("late", "REFUNDED", "refund re_1").assertOk().json();

    assertThat(ended.path("resolution").asString()).isEqualTo("REFUNDED");
    assertThat(ended.path("resolvedBy").asString()).isEqualTo("operator");
    assertThat(ended.path("reason").asString()).isEqualTo("refund re_1");
    assertThat(open("late")).isEmpty();
    assertThat(conflicts("late", "false"))
        .singleElement()
        .satisfies(c -> assertThat(c.path("resolvedAt").asString()).isNotEmpty());
    assertThat(history("late")).endsWith("CONFLICT", "CONFLICT_PUBLISHED", "CONFLICT_RESOLVED");
    JsonNode audit =
        operator.get("/api/v1/audit", "subject", "late").assertOk().json().at("/data/0");
    assertThat(audit.path("kind").asString()).isEqualTo("RESOLVE_CONFLICT");
    assertThat(audit.at("/after/resolution").asString()).isEqualTo("REFUNDED");
    await()
        .until(() -> service.gauge("order.timeout.open.conflict.amount", "currency", "CHF") == 0);
  }

  @Test
  void aConflictEndsOnce() {
    payLate("once", "EUR");
    resolve("once", "REACTIVATED", "delivered nevertheless").assertOk();

    Answer again = resolve("once", "REACTIVATED", "delivered nevertheless").assertOk();
    assertThat(again.header("Idempotent-Replayed")).isEqualTo("true");
    Answer other = resolve("once", "IGNORED", "a test");
    assertThat(other.status()).isEqualTo(409);
    assertThat(other.json().path("detail").asString())
        .contains("has ended as REACTIVATED since", "says operator");
  }

  @Test
  void aPaymentThatIsDeliveredAgainDoesNotOpenItsConflictAgain() {
    payLate("again", "EUR");
    resolve("again", "IGNORED", "a test").assertOk();
    scenario.shop().paid("again", "payment of again");
    scenario.shop().paid("again", "another payment");
    scenario.outcomes().awaitConflicts("again", 2);

    assertThat(open("again"))
        .extracting(conflict -> conflict.path("paymentId").asString())
        .containsExactly("another payment");
  }

  @Test
  void onlyOperatorsEndConflictsAndOnlyThoseThatExist() {
    payLate("refused", "EUR");
    Map<String, String> request =
        Map.of(
            "orderId", "refused",
            "paymentId", "payment of refused",
            "resolution", "REFUNDED",
            "reason", "why");
    assertThat(service.http().viewer().post(RESOLVE, request).status()).isEqualTo(403);
    assertThat(service.http().post(RESOLVE, request).status()).isEqualTo(401);
    assertThat(operator.post(RESOLVE, replaced(request, "resolution", "LOST")).status())
        .isEqualTo(400);
    assertThat(operator.post(RESOLVE, replaced(request, "reason", " ")).status()).isEqualTo(400);
    Answer unknown = operator.post(RESOLVE, replaced(request, "paymentId", "none"));
    assertThat(unknown.status()).isEqualTo(404);
    assertThat(unknown.json().path("detail").asString())
        .isEqualTo("there is no conflict of payment 'none' with order 'refused'");
    assertThat(open("refused")).hasSize(1);
  }

  private static Map<String, String> replaced(
      Map<String, String> request, String name, String value) {
    Map<String, String> other = new HashMap<>(request);
    other.put(name, value);
    return other;
  }

  private void payLate(String orderId, String currency) {
    scenario
        .shop()
        .created(
            orderId,
            Map.of("timeout", "PT0.1S", "amount", Map.of("value", "59.90", "currency", currency)));
    scenario.outcomes().awaitCancelled(orderId);
    // Until the publication is stored, too.
    scenario.awaitQuiet();
    scenario.shop().paid(orderId, "payment of " + orderId);
    scenario.outcomes().awaitConflicts(orderId, 1);
    await().until(() -> history(orderId).contains("CONFLICT_PUBLISHED"));
  }

  private Answer resolve(String orderId, String resolution, String reason) {
    return operator.post(
        RESOLVE,
        Map.of(
            "orderId", orderId,
            "paymentId", "payment of " + orderId,
            "resolution", resolution,
            "reason", reason));
  }

  private List<JsonNode> open(String orderId) {
    return conflicts(orderId, "true");
  }

  private List<JsonNode> conflicts(String orderId, String open) {
    JsonNode page =
        operator.get("/api/v1/conflicts", "open", open, "limit", "100").assertOk().json();
    return StreamSupport.stream(page.path("data").spliterator(), false)
        .filter(conflict -> conflict.path("orderId").asString().equals(orderId))
        .toList();
  }

  private List<String> history(String orderId) {
    JsonNode order = operator.get("/api/v1/order", "id", orderId).assertOk().json();
    return StreamSupport.stream(order.path("history").spliterator(), false)
        .map(entry -> entry.path("what").asString())
        .toList();
  }
}
