package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Instance;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The overall status, which every instance reports for all of them. */
@Order(40)
class OverviewIT {

  private static final Duration PATIENCE = Duration.ofMinutes(2);

  @AutoClose private final Scenario scenario = Scenario.create();

  @Test
  void everyInstanceForecastsTheOrdersAndAmountsOfAll() {
    try (Service one = scenario.startService("order-timeout.intake.instance-id", "one");
        Service other = scenario.startService("order-timeout.intake.instance-id", "other")) {
      Instance.awaitShared(one, other);
      for (int i = 0; i < 30; i++) {
        scenario
            .shop()
            .created(
                "order-" + i,
                Map.of(
                    "timeout",
                    i < 10 ? "PT4M" : i < 20 ? "PT30M" : "PT3H",
                    "amount",
                    Map.of("value", 1.5, "currency", i % 2 == 0 ? "EUR" : "USD")));
      }
      for (Service each : new Service[] {one, other}) {
        await("the forecast")
            .untilAsserted(
                () -> {
                  JsonNode forecast = each.http().viewer().get("/api/v1/forecast").json();
                  assertThat(forecast.at("/within/0/orders").asInt()).isZero();
                  assertThat(forecast.at("/within/1/orders").asInt()).isEqualTo(10);
                  assertThat(forecast.at("/within/2/orders").asInt()).isEqualTo(10);
                  assertThat(forecast.at("/within/3/orders").asInt()).isEqualTo(20);
                  assertThat(forecast.at("/within/1/amounts").toString())
                      .contains("{\"value\":\"7.5\",\"currency\":\"EUR\"}");
                  assertThat(forecast.at("/within/3/amounts").toString())
                      .contains("{\"value\":\"15.0\",\"currency\":\"USD\"}");
                });
        JsonNode overview = each.http().viewer().get("/api/v1/overview").json();
        assertThat(overview.path("pending").asInt()).isEqualTo(30);
        assertThat(overview.path("instances")).hasSize(2);
        assertThat(overview.path("unservedShards")).isEmpty();
        assertThat(overview.path("lastHour")).hasSize(60);
      }
      assertThat(one.gauge("order.timeout.forecast", "window", "60m")).isLessThanOrEqualTo(20);
    }
  }

  @Test
  void countsByTheMinuteOutliveTheInstance() {
    try (Service service = scenario.startService()) {
      scenario.shop().created("cancelled", Map.of("timeout", "PT1S"));
      scenario.shop().created("paid", Map.of("timeout", "PT1H"));
      scenario.shop().paid("paid", "p");
      scenario.outcomes().awaitCancelled("cancelled");
      await("the counts").untilAsserted(() -> assertLastHour(service));
    }
    try (Service again = scenario.startService()) {
      assertLastHour(again);
    }
  }

  private static void assertLastHour(Service service) {
    JsonNode lastHour = service.http().viewer().get("/api/v1/overview").json().path("lastHour");
    Map<String, Integer> sums = new HashMap<>();
    int late = 0;
    for (JsonNode minute : lastHour) {
      for (String what : new String[] {"registered", "paid", "cancelled"}) {
        sums.merge(what, minute.path(what).asInt(), Integer::sum);
      }
      late += minute.path("lateP99Millis").isNull() ? 0 : 1;
    }
    assertThat(sums).isEqualTo(Map.of("registered", 2, "paid", 1, "cancelled", 1));
    assertThat(late).isEqualTo(1);
  }

  @Test
  void watchersReceiveTheOverviewEverySecond() throws IOException, InterruptedException {
    try (Service service = scenario.startService()) {
      HttpRequest watch =
          HttpRequest.newBuilder(service.http().base().resolve("/api/v1/live"))
              .timeout(PATIENCE)
              .header(
                  "Authorization",
                  "Basic "
                      + Base64.getEncoder()
                          .encodeToString(
                              ("viewer:" + Http.VIEWER_PASSWORD).getBytes(StandardCharsets.UTF_8)))
              .build();
      HttpResponse<InputStream> response =
          HttpClient.newHttpClient().send(watch, HttpResponse.BodyHandlers.ofInputStream());
      assertThat(response.headers().firstValue("Content-Type").orElse(""))
          .startsWith("text/event-stream");
      // The stream is read by a thread of its own: a read of a silent connection does not end.
      List<JsonNode> received = new CopyOnWriteArrayList<>();
      try (InputStream body = response.body()) {
        Thread reader = new Thread(() -> readEvents(body, received), "live-reader");
        reader.setDaemon(true);
        reader.start();
        scenario.shop().created("seen", Map.of("timeout", "PT1H"));

        await("two overviews, the last of them with the order")
            .until(
                () ->
                    received.size() >= 2
                        && received.get(received.size() - 1).path("pending").asInt() == 1);
      }
    }
  }

  private static void readEvents(InputStream stream, List<JsonNode> received) {
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith("data:")) {
          received.add(JsonMapper.shared().readTree(line.substring(5)));
        }
      }
    } catch (IOException e) {
      // The test has closed the stream.
    }
  }
}
