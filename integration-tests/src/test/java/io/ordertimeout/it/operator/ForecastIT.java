package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.JsonNode;

/**
 * What is foretold: the orders of the next hour, and those that the end of a pause would cancel.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ForecastIT {

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Service service = scenario.startService();

  @Test
  void theEndOfAPauseIsForetold() {
    // Orders of a shard without an owner, which no instance decides.
    scenario
        .database()
        .execute(
            """
            insert into order_deadline (
              order_id, shard, state, created_at, deadline, channel, amount, currency)
            select 'foretold-' || i, 9, 'PENDING', clock_timestamp() - interval '1 hour',
              clock_timestamp() + make_interval(secs => 2 - 300 * (i % 2)), 'foretold', 1.5,
              case when i % 3 = 0 then 'USD' else 'EUR' end
            from generate_series(1, 12) as g(i)
            """);
    String keeping = service.pause(Map.of("channel", "foretold", "moveDeadlines", false));
    JsonNode kept =
        await("orders past due")
            .until(() -> effect(keeping), e -> e.at("/cancelled/orders").asInt() == 12);
    assertThat(kept.at("/cancelled/complete").asBoolean()).isTrue();
    assertThat(kept.at("/cancelled/amounts"))
        .extracting(amount -> amount.path("value").asString() + amount.path("currency").asString())
        .containsExactly("12.0EUR", "6.0USD");
    assertThat(Instant.parse(kept.at("/cancelled/earliest").asString()))
        .isBefore(Instant.now().minusSeconds(250));
    assertThat(kept.at("/maxPerSecond").isNull()).isTrue();

    // Another pause suspends them, too, so that the end of either has no effect.
    String moving = service.pause(Map.of("channel", "foretold", "moveDeadlines", true));
    assertThat(effect(keeping).at("/suspended/orders").asInt()).isEqualTo(12);
    assertThat(effect(moving).at("/suspended/orders").asInt()).isEqualTo(12);
    service.endPause(keeping);
    scenario
        .database()
        .execute(
            "update order_deadline set deadline = clock_timestamp() where order_id = 'foretold-2'");
    // Only this order was due after the pause began.
    JsonNode moved = effect(moving);
    assertThat(moved.at("/moved/orders").asInt()).isEqualTo(1);
    assertThat(Instant.parse(moved.at("/moved/earliest").asString()))
        .isAfter(Scenario.in(Duration.ofSeconds(-1)));
    assertThat(moved.at("/cancelled/orders").asInt()).isEqualTo(11);

    await("the amount on display")
        .until(
            () -> service.gauge("order.timeout.suspended.amount", "currency", "USD"), n -> n == 6);
    JsonNode suspended = service.http().viewer().get("/api/v1/overview").json().path("suspended");
    assertThat(suspended.path("orders").asInt()).isEqualTo(12);
    scenario.database().execute("delete from order_deadline where shard >= 7");
    service.endPause(moving);
    Http viewer = service.http().viewer();
    assertThat(viewer.get("/api/v1/pauses/" + moving + "/effect").status()).isEqualTo(409);
    assertThat(viewer.get("/api/v1/pauses/77777/effect").status()).isEqualTo(404);
  }

  private JsonNode effect(String pause) {
    return service.http().viewer().get("/api/v1/pauses/" + pause + "/effect").assertOk().json();
  }

  @Test
  void theForecastKnowsWhatIsPausedAndWhatIsLikelyToBePaid() {
    // Orders whose deadlines passed half an hour ago: one of four was cancelled.
    scenario
        .database()
        .execute(
            """
            insert into order_deadline (
              order_id, shard, state, created_at, registered_at, deadline, decided_at, decided_by)
            select 'past-' || i, 0, case i % 4 when 0 then 'CANCELLED' else 'PAID' end,
              d - interval '1 hour', d - interval '1 hour', d,
              case i % 4 when 0 then d else d - interval '1 second' end,
              case i % 4 when 0 then 'EXPIRY' else 'PAYMENT' end
            from generate_series(1, 40) as i,
              (values (clock_timestamp() - interval '30 min')) as x(d)
            """);
    for (int i = 0; i < 8; i++) {
      create("due-" + i, i < 4 ? "paused" : "other", Scenario.in(Duration.ofMinutes(50)));
    }
    // A wheel may contain an order of another test until it is retried.
    JsonNode hour =
        await("the forecast")
            .until(this::hour, h -> h.at("/expectedCancelled/orders").asInt() == 2);
    assertThat(hour.at("/suspended/orders").asInt()).isZero();
    JsonNode misspelt = placed("pausde");
    assertThat(misspelt.at("/covers/orders").asInt()).isZero();
    assertThat(misspelt.at("/covers/exact").asBoolean()).isTrue();
    service.endPause(misspelt.path("id").asString());
    JsonNode placed = placed("paused");
    assertThat(placed.at("/covers/orders").asInt()).isEqualTo(4);
    String channel = placed.path("id").asString();
    // Channels are read every ten seconds.
    JsonNode others =
        await("the orders of the channel")
            .until(this::hour, h -> h.at("/suspended/orders").asInt() == 4);
    assertThat(others.at("/expectedCancelled/orders").asInt()).isEqualTo(1);
    String all = service.pause(Map.of("moveDeadlines", false));
    JsonNode paused = hour();
    assertThat(paused.at("/suspended/orders").asInt())
        .isEqualTo(paused.at("/orders").asInt())
        .isGreaterThanOrEqualTo(8);
    assertThat(paused.at("/expectedCancelled/orders").asInt()).isZero();
    JsonNode channels = service.http().viewer().get("/api/v1/forecast").json().path("channels");
    assertThat(channels)
        .extracting(c -> c.path("channel").asString() + " " + c.path("orders").asInt())
        .contains("paused 4", "other 4");
    service.endPause(all);
    service.endPause(channel);
    for (int i = 0; i < 8; i++) {
      scenario.shop().paid("due-" + i, "p");
      scenario.awaitState("due-" + i, "PAID");
    }
  }

  private JsonNode placed(String channel) {
    Map<String, Object> pause =
        Map.of("channel", channel, "moveDeadlines", false, "reason", "the provider is down");
    return service.http().operator().post("/api/v1/pauses", pause).assertOk().json();
  }

  private JsonNode hour() {
    return service.http().viewer().get("/api/v1/forecast").json().at("/within/3");
  }

  private void create(String orderId, String channel, Instant deadline) {
    scenario.shop().created(orderId, Map.of("payBy", deadline.toString(), "channel", channel));
  }
}
