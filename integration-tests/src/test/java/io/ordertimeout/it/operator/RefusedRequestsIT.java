package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Requests that are refused, each with a problem that names what is wrong. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RefusedRequestsIT {

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Service service = scenario.startService();
  private final Http viewer = service.http().viewer();

  @BeforeAll
  void createOrders() {
    scenario.createPending("other", 0);
    scenario.createPending("other-2", 0);
  }

  @Test
  void invalidQueriesAreRefusedWithTheReason() {
    for (String[] query :
        List.of(
            new String[] {"state", "LOST"},
            new String[] {"dueFrom", "yesterday"},
            new String[] {"limit", "0"},
            new String[] {"limit", "501"},
            new String[] {"after", "%%%"},
            new String[] {"after", "YQ"},
            // The cursor of a search by id.
            new String[] {"after", cursorById()},
            new String[] {"sort", "amount"},
            new String[] {"amountFrom", "10"},
            new String[] {"amountFrom", "ten", "currency", "EUR"})) {
      Answer answer = viewer.get("/api/v1/orders", query);
      assertThat(answer.status()).as(query[0] + "=" + query[1]).isEqualTo(400);
      assertThat(answer.header("Content-Type")).startsWith("application/problem+json");
    }
    assertThat(viewer.get("/api/v1/order", "id", "unknown").status()).isEqualTo(404);
  }

  private String cursorById() {
    return viewer
        .get("/api/v1/orders", "prefix", "o", "limit", "1")
        .assertOk()
        .json()
        .path("next")
        .asString();
  }

  @Test
  void everyWrongPartOfARequestIsNamed() {
    assertThat(errors(viewer.get("/api/v1/orders", "state", "LOST", "dueFrom", "x", "page", "2")))
        .containsExactlyInAnyOrder("state", "dueFrom", "page");
    assertThat(viewer.get("/api/v1/orders/x", "page", "2").response().body())
        .contains("unknown parameter; this request has none");
    for (String limit : List.of("0", "501", "-1")) {
      Answer refused = viewer.get("/api/v1/orders", "limit", limit);
      assertThat(errors(refused)).containsExactly("limit");
      assertThat(refused.json().path("detail").asString())
          .isEqualTo("limit: must be between 1 and 500");
    }
    assertThat(errors(viewer.get("/api/v1/orders", "prefix", "a\0b"))).containsExactly("prefix");
    assertThat(errors(viewer.get("/api/v1/order"))).containsExactly("id");
    assertThat(
            errors(
                viewer.get(
                    "/api/v1/orders",
                    "sort",
                    "amount",
                    "limit",
                    "0",
                    "prefix",
                    "x".repeat(257),
                    "amountFrom",
                    "1",
                    "amountTo",
                    "2")))
        .containsExactlyInAnyOrder("sort", "limit", "prefix", "amountFrom", "amountTo");
    String letters = "/api/v1/dead-letters/" + scenario.topics().deadLetters().get(0);
    for (String list :
        List.of(
            "/api/v1/orders",
            "/api/v1/orders.csv",
            "/api/v1/conflicts",
            "/api/v1/audit",
            "/api/v1/holds",
            letters)) {
      assertThat(errors(viewer.get(list, "after", "%%%"))).as(list).containsExactly("after");
    }
    assertThat(errors(viewer.get("/api/v1/conflicts", "after", "YQ"))).containsExactly("after");
    Http operator = service.http().operator();
    assertThat(errors(operator.post("/api/v1/order/extend", Map.of("orderId", " "))))
        .containsExactly("deadline", "orderId", "reason");
    assertThat(errors(operator.post("/api/v1/order/close", Map.of("order", "x", "reason", "y"))))
        .containsExactly("order");
    assertThat(errors(operator.post("/api/v1/pauses", Map.of("endsAt", "soon"))))
        .containsExactly("endsAt");
    assertThat(errors(operator.post("/api/v1/pauses/x/end", Map.of("reason", "y"))))
        .containsExactly("id");
    for (String lines : List.of("", "{", "{\"topic\":\"unknown\"}", "{}\n".repeat(10_001))) {
      assertThat(errors(operator.postText("/api/v1/events/check", lines))).containsExactly("body");
    }
    assertThat(
            errors(operator.post("/api/v1/order/close", Map.of("orderId", "x\0", "reason", "y"))))
        .containsExactly("body");
  }

  private static List<String> errors(Answer answer) {
    assertProblem(answer.response().body(), answer.status(), 400, "invalid-request");
    return answer
        .json()
        .path("errors")
        .valueStream()
        .peek(error -> assertThat(error.path("message").asString()).isNotEmpty())
        .map(error -> error.path("field").asString())
        .toList();
  }

  @Test
  void otherRefusalsHaveTypesToo() {
    Http operator = service.http().operator();
    Answer absent = viewer.get("/api/v1/orders/absent");
    assertProblem(absent.response().body(), absent.status(), 404, "not-found");
    assertThat(viewer.get("/api/v1/orders/other").assertOk().json().at("/order/orderId").asString())
        .isEqualTo("other");
    Answer method = operator.post("/api/v1/overview", Map.of());
    assertProblem(method.response().body(), method.status(), 405, "method-not-allowed");
    Answer type = operator.postText("/api/v1/pauses", "{}");
    assertProblem(type.response().body(), type.status(), 415, "unsupported-media-type");
    // Also formats that a library in the class path could write.
    for (String other : List.of("image/png", "application/yaml", "application/cbor", "text/xml")) {
      Answer accept = viewer.with("Accept", other).get("/api/v1/overview");
      assertProblem(accept.response().body(), accept.status(), 406, "not-acceptable");
    }
    Answer yaml = operator.postText("/api/v1/pauses", "application/yaml", "reason: r");
    assertProblem(yaml.response().body(), yaml.status(), 415, "unsupported-media-type");
    Answer anonymous = service.http().get("/api/v1/overview");
    assertProblem(anonymous.response().body(), anonymous.status(), 401, "not-logged-in");
    Answer denied = viewer.post("/api/v1/pauses", Map.of());
    assertProblem(denied.response().body(), denied.status(), 403, "not-permitted");
  }

  @Test
  void aPathThatDoesNotExistIsNotFoundByAnybody() {
    for (Http client : List.of(service.http(), viewer, service.http().operator())) {
      for (String path : List.of("/nothing", "/actuator/env", "/contracts/nothing.json")) {
        Answer answer = client.get(path);
        assertProblem(answer.response().body(), answer.status(), 404, "not-found");
        assertThat(answer.json().path("detail").asString())
            .isEqualTo("there is nothing at this path");
      }
    }
    Answer ofTheApi = viewer.get("/api/v1/nothing");
    assertProblem(ofTheApi.response().body(), ofTheApi.status(), 404, "not-found");
    assertThat(ofTheApi.json().path("detail").asString())
        .isEqualTo("there is nothing at this path");
    Answer port = service.management().get("/actuator/env");
    assertProblem(port.response().body(), port.status(), 404, "not-found");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Content-Encoding | gzip | application/json",
        "Content-Encoding | br, identity | application/json",
        "X | y | application/json;charset=ISO-8859-1",
        "X | y | application/json;charset=UTF-16",
        "X | y | application/json;charset=unknown",
        "X | y | nonsense"
      })
  void aBodyThatIsNotPlainUtf8IsRefused(String header, String value, String mediaType) {
    Answer answer =
        service
            .http()
            .operator()
            .with(header, value)
            .postText("/api/v1/pauses", mediaType, "{\"reason\":\"r\"}");

    assertProblem(answer.response().body(), answer.status(), 415, "unsupported-media-type");
    assertThat(viewer.get("/api/v1/overview").json().path("pauses").isEmpty()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{",
        "{\"reason\":",
        "{\"reason\":\"r\"",
        "[{",
        "{\"reason\":\"r\"} x",
        "nul",
        "null",
        "[]",
        "7",
        "\"text\"",
        "{\"reason\":{}}",
        "{\"reason\":[1]}",
        "{\"endsAt\":{}}",
        "{\"moveDeadlines\":\"x\"}",
        "{\"channels\":{}}"
      })
  void aWrongBodyIsDescribedInTermsOfTheApi(String body) {
    Answer answer = service.http().operator().postText("/api/v1/pauses", "application/json", body);

    assertProblem(answer.response().body(), answer.status(), 400, "invalid-request");
    assertThat(answer.response().body())
        .doesNotContain("Source", "REDACTED", "java", "JsonToken", "START_", "Jackson")
        .doesNotContainPattern("[a-z]Request");
  }

  @Test
  void whatCanBeReadCanBeAskedForWithoutItsContent() {
    for (String path :
        List.of(
            "/",
            "/contracts/openapi.json",
            "/api/v1/session",
            "/api/v1/overview",
            "/api/v1/orders",
            "/api/v1/orders.csv",
            "/api/v1/live")) {
      assertThat(viewer.head(path).status()).as(path).isEqualTo(200);
    }
    for (String path : List.of("/actuator/prometheus", "/actuator/health", "/actuator/info")) {
      assertThat(service.management().head(path).status()).as(path).isEqualTo(200);
    }
  }

  @Test
  void monitoringGetsNoCookie() {
    for (String path :
        List.of("/actuator/prometheus", "/actuator/health/readiness", "/actuator/nothing")) {
      assertThat(service.management().get(path).header("Set-Cookie")).as(path).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/api/v1/orders?prefix=%zz",
        "/api/v1/orders?prefix=%",
        "/api/v1/orders?prefix=%C3%28",
        "/api/v1/orders?prefix=%00",
        "/api/v1/orders/%00",
        "/api/v1/orders/%zz",
        "/api/v1/orders/a%2Fb",
        "/api/v1/orders/a;b",
        "/api/v1//orders",
        "/api/v1/orders/../../x",
        "/api/v1/orders/%2e%2e/x",
        "/api/v1/orders/a\\b",
        "/api/v1/orders?prefix=<x>",
        "/api/v1/orders/{x}"
      })
  void aMalformedUrlIsAProblemOfTheClient(String target) throws IOException {
    URI base = viewer.base();
    try (Socket socket = new Socket(base.getHost(), base.getPort())) {
      String credentials = "viewer:" + Http.VIEWER_PASSWORD;
      String request =
          """
          GET %s HTTP/1.1
          Host: localhost
          Authorization: Basic %s
          Connection: close

          """
              .formatted(
                  target,
                  Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8)))
              .replace("\n", "\r\n");
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      String response = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(response).startsWith("HTTP/1.1 400").contains("application/problem+json");
      String body = response.substring(response.indexOf('{'), response.lastIndexOf('}') + 1);
      assertProblem(body, 400, 400, "invalid-request");
    }
  }

  private static void assertProblem(String body, int status, int expected, String type) {
    assertThat(status).as(body).isEqualTo(expected);
    JsonNode problem = JsonMapper.shared().readTree(body);
    assertThat(problem.path("instance").asString("/")).startsWith("/");
    assertThat(problem.path("type").asString()).isEqualTo("urn:order-timeout:problem:" + type);
    assertThat(problem.path("status").asInt()).isEqualTo(expected);
  }
}
