package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.ConsoleSession;
import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.RawHttp;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What clients can make the service spend on them: sessions, threads, memory and hashing. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AccessLimitsIT {

  private static final int THREADS = 10;

  /** More clients than the server has threads. */
  private static final int CLIENTS = 2 * THREADS;

  private static final int MAX_LIVE = 20;

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Service service =
      scenario.startService(
          "server.tomcat.threads.max", Integer.toString(THREADS),
          "server.tomcat.threads.min-spare", "1",
          "server.forward-headers-strategy", "native",
          "server.tomcat.remoteip.internal-proxies", "127.0.0.1",
          "order-timeout.access.max-failures", "3");
  private final URI base = service.http().base();

  @Test
  void anonymousRequestsLeaveNoSession() {
    long before = sessions();
    for (Http port : List.of(service.http(), service.management())) {
      for (Http client :
          List.of(
              port,
              port.with("X-Long", "x".repeat(6_000)),
              port.with("Cookie", ConsoleSession.COOKIE + "=MTIzNDU2Nzg5MDEyMzQ1Njc4OTA="),
              port.with("Accept", "text/html"),
              port.with("X-Forwarded-For", "198.51.100.7").as("operator", "wrong"))) {
        List<Answer> answers =
            Stream.of(
                    "/",
                    "/api/v1/session",
                    "/api/v1/overview",
                    "/api/v1/order?id=1",
                    "/x",
                    "/error")
                .map(client::get)
                .toList();
        for (Answer answer : answers) {
          assertThat(cookies(answer)).doesNotContain(ConsoleSession.COOKIE);
        }
        assertThat(cookies(client.post("/api/v1/pauses", Map.of())))
            .doesNotContain(ConsoleSession.COOKIE);
        assertThat(cookies(client.form("/api/v1/session", "username", "operator", "password", "x")))
            .doesNotContain(ConsoleSession.COOKIE);
      }
    }
    assertThat(sessions()).isEqualTo(before);
  }

  private static String cookies(Answer answer) {
    return String.join("\n", answer.response().headers().allValues("Set-Cookie"));
  }

  private long sessions() {
    return scenario.database().count("select count(*) from console_session");
  }

  @Test
  void slowBodiesOfAnonymousClientsKeepNobodyOut() throws IOException {
    for (Http port : List.of(service.http(), service.management())) {
      List<RawHttp> slow = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        slow.add(
            RawHttp.send(
                port.base(),
                i % 2 == 0
                    ? """
                    POST /api/v1/pauses HTTP/1.1
                    Host: localhost
                    Content-Type: application/json
                    Content-Length: 1000000

                    {"""
                    : """
                    POST /api/v1/pauses HTTP/1.1
                    Host: localhost
                    Content-Type: application/x-www-form-urlencoded
                    Transfer-Encoding: chunked

                    1
                    a"""));
      }

      assertThat(service.http().operator().get("/api/v1/overview").status()).isEqualTo(200);
      assertThat(service.management().get("/actuator/health/liveness").status()).isEqualTo(200);
      for (RawHttp client : slow) {
        assertThat(client.response()).startsWith("HTTP/1.1 401").contains("log in first");
        client.close();
      }
    }
  }

  @Test
  void slowLogInsKeepNobodyOut() throws IOException {
    List<RawHttp> slow = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      slow.add(
          RawHttp.send(
              base,
              """
              POST /api/v1/session HTTP/1.1
              Host: localhost
              Cookie: XSRF-TOKEN=x
              X-XSRF-TOKEN: x
              Content-Type: application/x-www-form-urlencoded
              Content-Length: 100

              username="""));
    }

    assertThat(service.http().operator().get("/api/v1/overview").status()).isEqualTo(200);
    await("the refusals").until(() -> refused(slow).size() == CLIENTS - 2);
    for (RawHttp client : refused(slow)) {
      assertThat(client.response()).startsWith("HTTP/1.1 429").contains("too many log-ins");
    }
    for (RawHttp client : slow) {
      client.close();
    }
  }

  private static List<RawHttp> refused(List<RawHttp> clients) throws IOException {
    List<RawHttp> refused = new ArrayList<>();
    for (RawHttp client : clients) {
      if (client.hasResponse()) {
        refused.add(client);
      }
    }
    return refused;
  }

  @Test
  void bodiesHaveAMaximumSize() throws Exception {
    String credentials =
        "Basic "
            + Base64.getEncoder()
                .encodeToString(
                    ("operator:" + Http.OPERATOR_PASSWORD).getBytes(StandardCharsets.UTF_8));
    try (RawHttp announced =
        RawHttp.send(
            base,
            """
            POST /api/v1/pauses HTTP/1.1
            Host: localhost
            Authorization: %s
            Content-Type: application/json
            Content-Length: 60000000
            Expect: 100-continue

            """
                .formatted(credentials))) {
      assertThat(announced.response())
          .startsWith("HTTP/1.1 413")
          .contains("application/problem+json", "maximum");
    }
    // The size of a chunked body is not known before it is read.
    byte[] body =
        ("{\"reason\":\"" + "x".repeat(9_000_000) + "\"}").getBytes(StandardCharsets.UTF_8);
    HttpResponse<String> chunked =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(base.resolve("/api/v1/pauses"))
                    .header("Authorization", credentials)
                    .header("Content-Type", "application/json")
                    .POST(
                        HttpRequest.BodyPublishers.ofInputStream(
                            () -> new ByteArrayInputStream(body)))
                    .build(),
                HttpResponse.BodyHandlers.ofString());
    assertThat(chunked.statusCode()).isEqualTo(413);
    assertThat(chunked.headers().firstValue("Content-Type").orElse(""))
        .isEqualTo("application/problem+json");
  }

  @Test
  void failedLogInsCountByUserAndAddress() {
    Http attacker = from("203.0.113.9");
    for (int i = 0; i < 3; i++) {
      assertThat(attacker.as("operator", "guess" + i).get("/api/v1/overview").status())
          .isEqualTo(401);
    }
    Answer refused = attacker.as("operator", "guess").get("/api/v1/overview");
    assertThat(refused.status()).isEqualTo(429);
    // One attempt of three in five minutes.
    assertThat(refused.header("Retry-After")).isEqualTo("100");

    assertThat(from("203.0.113.10").operator().get("/api/v1/overview").status()).isEqualTo(200);
    assertThat(attacker.viewer().get("/api/v1/overview").status()).isEqualTo(200);
  }

  @Test
  void ipv6AddressesCountByTheirNetwork() {
    for (int i = 0; i < 3; i++) {
      assertThat(
              from("2001:db8:1:2:" + i + "::9")
                  .as("operator", "x")
                  .get("/api/v1/overview")
                  .status())
          .isEqualTo(401);
    }
    assertThat(from("2001:db8:1:2:ffff::1").as("operator", "x").get("/api/v1/overview").status())
        .isEqualTo(429);
    assertThat(from("2001:db8:1:3::1").operator().get("/api/v1/overview").status()).isEqualTo(200);
  }

  @Test
  void subscriptionsAreLimitedByUserAndAddress() throws Exception {
    HttpClient client = HttpClient.newHttpClient();
    List<CompletableFuture<HttpResponse<InputStream>>> answers = new ArrayList<>();
    for (int i = 0; i < MAX_LIVE + 5; i++) {
      answers.add(subscribe(client, "viewer:" + Http.VIEWER_PASSWORD, "198.51.100.1"));
    }
    List<HttpResponse<InputStream>> viewers = new ArrayList<>();
    for (CompletableFuture<HttpResponse<InputStream>> answer : answers) {
      viewers.add(answer.get(30, TimeUnit.SECONDS));
    }
    assertThat(viewers.stream().filter(answer -> answer.statusCode() == 200)).hasSize(MAX_LIVE);
    assertThat(viewers.stream().filter(answer -> answer.statusCode() == 429)).hasSize(5);
    try (InputStream other =
        subscribe(client, "operator:" + Http.OPERATOR_PASSWORD, "198.51.100.2")
            .get(30, TimeUnit.SECONDS)
            .body()) {
      assertThat(other.read()).isPositive();
    }
    for (HttpResponse<InputStream> viewer : viewers) {
      viewer.body().close();
    }
  }

  private CompletableFuture<HttpResponse<InputStream>> subscribe(
      HttpClient client, String credentials, String address) {
    return client.sendAsync(
        HttpRequest.newBuilder(base.resolve("/api/v1/live"))
            .header("X-Forwarded-For", address)
            .header(
                "Authorization",
                "Basic "
                    + Base64.getEncoder()
                        .encodeToString(credentials.getBytes(StandardCharsets.UTF_8)))
            .build(),
        HttpResponse.BodyHandlers.ofInputStream());
  }

  @Test
  void numbersOfManyDigitsAreRefusedBeforeAnybodyComputesWithThem() {
    Http viewer = service.http().viewer();
    for (String amount :
        List.of("1e-30000000", "1e30000000", "1e-11", "1e11", "9".repeat(31), "0".repeat(101))) {
      for (String path : List.of("/api/v1/orders", "/api/v1/orders.csv")) {
        Answer answer = viewer.get(path, "amountFrom", amount, "currency", "EUR");

        assertThat(answer.status()).as(amount).isEqualTo(400);
        assertThat(answer.response().body())
            .contains("amountFrom", "at most 30 digits, at most 10 of them after the point");
      }
    }
    viewer
        .get(
            "/api/v1/orders",
            "amountFrom",
            "-" + "9".repeat(20) + "." + "9".repeat(10),
            "amountTo",
            "1e10",
            "currency",
            "EUR")
        .assertOk();
    for (String time : List.of(Long.toString(Long.MAX_VALUE), Long.toString(Long.MIN_VALUE))) {
      assertThat(viewer.get("/api/v1/orders", "after", cursor("deadline " + time + " 1")).status())
          .isEqualTo(400);
      assertThat(viewer.get("/api/v1/conflicts", "after", cursor(time + "\0a\0b")).status())
          .isEqualTo(400);
    }
    assertThat(
            service
                .http()
                .operator()
                .postText(
                    "/api/v1/group/advance",
                    "application/json",
                    "{\"generation\":1e-30000000,\"reason\":\"x\"}")
                .status())
        .isBetween(400, 499);
  }

  private static String cursor(String position) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(position.getBytes(StandardCharsets.UTF_8));
  }

  private Http from(String address) {
    return service.http().with("X-Forwarded-For", address);
  }
}
