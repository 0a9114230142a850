package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Expiry stops for all or for a channel, on all instances, until somebody or the clock ends it. */
class PauseIT {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Scenario scenario = Scenario.create();

  @AfterEach
  void close() {
    scenario.close();
  }

  @Test
  void aPauseHoldsAllInstancesAtOnceAndOutlivesThem() {
    String pause;
    Instant deadline;
    try (Service one = scenario.startService();
        Service other = scenario.startService()) {
      await("both to serve")
          .atMost(PATIENCE)
          .until(() -> owned(one) > 0 && owned(other) > 0 && owned(one) + owned(other) == 3);
      deadline = Scenario.in(Duration.ofSeconds(4));
      for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
        scenario.create("order-" + shard, shard, deadline);
      }
      scenario.awaitState("order-2", "PENDING");
      pause = pause(one, Map.of("moveDeadlines", false));
      for (Service each : new Service[] {one, other}) {
        await("the pause to be known")
            .atMost(PATIENCE)
            .until(() -> each.gauge("order.timeout.expiry.paused", "by", "operator") == 1);
      }
      scenario.awaitPast(deadline);
      awaitHeld(one, other);
      assertThat(scenario.database().pending()).isEqualTo(3);
    }
    try (Service restarted = scenario.startService()) {
      awaitHeld(restarted);
      assertThat(scenario.database().pending()).isEqualTo(3);
      assertThat(
              restarted
                  .http()
                  .viewer()
                  .get("/api/overview")
                  .json()
                  .at("/pauses/0/reason")
                  .asString())
          .isEqualTo("the payment provider is down");

      end(restarted, pause);
      for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
        assertThat(scenario.outcomes().awaitCancelled("order-" + shard).instant("deadline"))
            .isEqualTo(deadline);
      }
      assertThat(restarted.counter("order.timeout.repaired")).isZero();
    }
  }

  @Test
  void aPauseOfAChannelHoldsItsOrdersAndNoOthers() {
    try (Service service =
        scenario.startService(
            "order-timeout.reconciler.interval",
            "1s",
            "order-timeout.reconciler.confirm-after",
            "1s")) {
      String pause = pause(service, Map.of("channel", "web", "moveDeadlines", false));
      Instant deadline = Scenario.in(Duration.ofSeconds(2));
      create("web", "web", deadline);
      create("store", "store", deadline);
      scenario.create("no channel", 0, deadline);

      scenario.outcomes().awaitCancelled("store");
      scenario.outcomes().awaitCancelled("no channel");
      assertThat(scenario.database().state("web")).isEqualTo("PENDING");
      JsonNode blocker =
          service.http().viewer().get("/api/order", "id", "web").json().at("/waitsFor/0");
      assertThat(blocker.at("/type").asString()).isEqualTo("paused");
      assertThat(blocker.at("/pauseId").asLong()).isEqualTo(Long.parseLong(pause));
      assertThat(blocker.at("/channel").asString()).isEqualTo("web");

      end(service, pause);
      scenario.outcomes().awaitCancelled("web");
      assertThat(service.counter("order.timeout.repaired")).isZero();
    }
  }

  @Test
  void deadlinesMoveByThePartOfThePauseThatTheirOrdersLivedThrough() {
    try (Service service = scenario.startService()) {
      Instant deadline = Scenario.in(Duration.ofSeconds(6));
      scenario.create("lived through all", 0, deadline);
      scenario.awaitState("lived through all", "PENDING");
      String pause = pause(service, Map.of("moveDeadlines", true));
      scenario.awaitPast(deadline);
      end(service, pause);

      PublishedEvent event = scenario.outcomes().awaitCancelled("lived through all");
      Duration moved = Duration.between(deadline, event.instant("deadline"));
      assertThat(moved)
          .isEqualTo(
              Duration.between(
                  instant("select began_at from expiry_pause"),
                  instant("select ended_at from expiry_pause")));
      assertThat(event.instant("cancelledAt")).isAfterOrEqualTo(event.instant("deadline"));
    }
  }

  @Test
  void aPauseEndsByItself() {
    try (Service service = scenario.startService()) {
      Instant end = Scenario.in(Duration.ofSeconds(5));
      pause(service, Map.of("moveDeadlines", false, "endsAt", end.toString()));
      scenario.create("held for a while", 0, Scenario.in(Duration.ofSeconds(1)));

      assertThat(scenario.outcomes().awaitCancelled("held for a while").instant("cancelledAt"))
          .isAfterOrEqualTo(end);
      await("the metric")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.expiry.paused") == 0);
    }
  }

  @Test
  void thePauseThatIsAskedForTwiceIsOneAndWhatMakesNoSenseIsRefused() {
    try (Service service = scenario.startService()) {
      String pause = pause(service, Map.of("moveDeadlines", false));
      assertThat(pause(service, Map.of("moveDeadlines", false))).isEqualTo(Long.parseLong(pause));
      assertThat(pause(service, Map.of("moveDeadlines", true))).isNotEqualTo(pause);

      Http operator = service.http().operator();
      assertThat(
              operator
                  .post(
                      "/api/pauses",
                      Map.of(
                          "moveDeadlines", true, "reason", "x", "endsAt", "2020-01-01T00:00:00Z"))
                  .status())
          .isEqualTo(409);
      assertThat(operator.post("/api/pauses", Map.of("moveDeadlines", true)).status())
          .isEqualTo(400);
      assertThat(operator.post("/api/pauses", Map.of("reason", "x")).status()).isEqualTo(400);
      assertThat(operator.post("/api/pauses/77/end", Map.of("reason", "x")).status())
          .isEqualTo(404);
      end(service, pause);
      end(service, pause);
      assertThat(scenario.database().count("select count(*) from operator_action")).isEqualTo(3);
    }
  }

  private static double owned(Service service) {
    return service.gauge("order.timeout.owned.shards");
  }

  /** Waits until due orders have been held for a while. */
  private static void awaitHeld(Service... services) {
    for (Service service : services) {
      await("orders to be held")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.watermark.lag") > 1);
    }
  }

  private void create(String orderId, String channel, Instant deadline) {
    scenario.shop().created(orderId, Map.of("payBy", deadline.toString(), "channel", channel));
  }

  private static String pause(Service service, Map<String, ?> settings) {
    Map<String, Object> body = new HashMap<>(settings);
    body.put("reason", "the payment provider is down");
    Answer answer = service.http().operator().post("/api/pauses", body);
    assertThat(answer.status()).as(answer.response().body()).isEqualTo(200);
    return answer.json().path("subject").asString();
  }

  private static void end(Service service, String pause) {
    Answer answer =
        service
            .http()
            .operator()
            .post("/api/pauses/" + pause + "/end", Map.of("reason", "it is up"));
    assertThat(answer.status()).as(answer.response().body()).isEqualTo(200);
  }

  private Instant instant(String sql) {
    return scenario.database().query(sql, (rs, row) -> rs.getTimestamp(1).toInstant()).get(0);
  }
}
