package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The lists of orders and conflicts, and the changes of many orders. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SearchIT {

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Service service = scenario.startService();
  private final Http viewer = service.http().viewer();
  private final Instant base = Scenario.in(Duration.ofHours(1));

  @BeforeAll
  void fill() {
    for (int i = 0; i < 60; i++) {
      scenario.create("search-%02d".formatted(i), i % Scenario.PARTITIONS, base.plusSeconds(i / 2));
    }
    for (int i = 0; i < 20; i++) {
      scenario.pay("search-%02d".formatted(i), i % Scenario.PARTITIONS);
    }
    scenario.create("other", 0, base.plusSeconds(10));
    scenario.awaitQuiet();
  }

  @Test
  void pagesContainEveryOrderOnceInOrderOfDeadlines() {
    List<String> pages = all("state", "PENDING", "limit", "7");

    assertThat(pages)
        .hasSize(41)
        .doesNotHaveDuplicates()
        .containsAll(IntStream.range(20, 60).mapToObj("search-%02d"::formatted).toList());
    List<String> withoutOther = new ArrayList<>(pages);
    withoutOther.remove("other");
    // Two orders each have the same deadline.
    assertThat(withoutOther.stream().map(id -> Integer.parseInt(id.substring(7)) / 2)).isSorted();
  }

  @Test
  void severalStatesAreMergedInOrderOfDeadlines() {
    assertThat(all("state", "PENDING", "state", "PAID", "limit", "11"))
        .hasSize(61)
        .doesNotHaveDuplicates();
    assertThat(
            all(
                "limit",
                "500",
                "dueFrom",
                base.toString(),
                "dueTo",
                base.plusSeconds(60).toString()))
        .hasSize(61);
  }

  @Test
  void aWindowOfDeadlinesExcludesItsEnd() {
    assertThat(
            all(
                "dueFrom",
                base.plusSeconds(12).toString(),
                "dueTo",
                base.plusSeconds(14).toString()))
        .containsExactlyInAnyOrder("search-24", "search-25", "search-26", "search-27");
  }

  @Test
  void aPrefixSelectsOrderIdsThatBeginWithIt() {
    assertThat(all("prefix", "search-1", "limit", "3"))
        .containsExactlyElementsOf(
            IntStream.range(10, 20).mapToObj("search-%02d"::formatted).toList());
    assertThat(all("prefix", "search-1", "state", "PENDING")).isEmpty();
    assertThat(all("prefix", "search-2%")).isEmpty();
    assertThat(all("prefix", "other")).containsExactly("other");
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

  @Test
  void headersAreNoCriteria() {
    assertThat(viewer.with("Prefix", "other").get("/api/v1/orders").assertOk().json().path("data"))
        .hasSizeGreaterThan(1);
  }

  private String cursorById() {
    return page("prefix", "search-", "limit", "1").path("next").asString();
  }

  @Test
  void bothOrdersAreReadInBothDirections() {
    List<String> byId = IntStream.range(0, 60).mapToObj("search-%02d"::formatted).toList();
    List<String> backwards = new ArrayList<>(byId);
    Collections.reverse(backwards);

    assertThat(all("prefix", "search-", "sort", "id", "limit", "7")).isEqualTo(byId);
    assertThat(all("prefix", "search-", "sort", "-id", "limit", "7")).isEqualTo(backwards);
    List<String> byDeadline = all("prefix", "search-", "sort", "deadline", "limit", "7");
    List<String> latestFirst = all("prefix", "search-", "sort", "-deadline", "limit", "7");
    assertThat(byDeadline).containsExactlyInAnyOrderElementsOf(byId);
    Collections.reverse(latestFirst);
    assertThat(latestFirst).isEqualTo(byDeadline);
  }

  @Test
  void criteriaAreCombined() {
    insert("filtered-", 1, 40);
    String[] filtered = {"prefix", "filtered-", "sort", "deadline"};

    assertThat(all(with(filtered, "channel", "rare"))).containsExactly("filtered-000040");
    assertThat(all(with(filtered, "currency", "EUR", "amountFrom", "38", "amountTo", "39.00")))
        .containsExactly("filtered-000038", "filtered-000039");
    assertThat(all(with(filtered, "currency", "USD"))).isEmpty();
    JsonNode counted = page(with(filtered, "channel", "many", "total", "true", "limit", "1"));
    assertThat(counted.at("/total/orders").asInt()).isEqualTo(39);
    assertThat(counted.at("/total/exact").asBoolean()).isTrue();
    delete("filtered-");
  }

  @Test
  void overdueOrdersArePendingAndPastTheirDeadlines() {
    Http operator = service.http().operator();
    long pause =
        operator
            .post("/api/v1/pauses", Map.of("moveDeadlines", false, "reason", "to be overdue"))
            .assertOk()
            .json()
            .path("id")
            .asLong();
    scenario.create("late", 0, Scenario.in(Duration.ofMillis(500)));
    scenario.awaitState("late", "PENDING");

    await("the deadline").until(() -> all("overdue", "true").equals(List.of("late")));
    assertThat(all("overdue", "true", "state", "PAID")).isEmpty();
    operator.post("/api/v1/pauses/" + pause + "/end", Map.of("reason", "enough")).assertOk();
    scenario.outcomes().awaitCancelled("late");
  }

  @Test
  void aRareMatchIsFoundByBoundedSearchesThatReportHowFarTheyCame() {
    insert("many-", 1, 45_000);
    String[] rare = {"state", "CLOSED", "channel", "rare", "total", "true"};

    JsonNode first = page(rare);
    assertThat(first.path("data")).isEmpty();
    assertThat(first.at("/searched/orders").asInt()).isBetween(9_000, 20_000);
    assertThat(first.at("/searched/lastDeadline").asString()).startsWith("2");
    assertThat(first.at("/total/exact").asBoolean()).isFalse();
    assertThat(all(rare)).containsExactly("many-045000");

    JsonNode all = page("state", "CLOSED", "total", "true");
    assertThat(all.at("/total/orders").asInt()).isEqualTo(10_000);
    assertThat(all.at("/total/exact").asBoolean()).isFalse();
    assertThat(all.path("searched").isNull()).isTrue();

    Answer part = viewer.get("/api/v1/orders.csv", "state", "CLOSED", "prefix", "many-");
    assertThat(part.header("Content-Type")).isEqualTo("text/csv;charset=UTF-8");
    assertThat(part.header("Orders-Exported")).isEqualTo("10000");
    assertThat(part.response().body().lines()).hasSize(10_001);
    assertThat(part.header("Link")).endsWith("; rel=\"next\"").contains("prefix=many-&after=");
    assertThat(part.response().body())
        .startsWith("orderId,state,deadline,amount,currency,channel,")
        .contains("\r\nmany-000002,CLOSED,")
        .contains(",2,EUR,many,");
    delete("many-");
  }

  @Test
  void decidedOrdersAreNotListedAsParked() {
    insert("decided-", 1, 3_000);
    scenario
        .database()
        .execute(
            """
            insert into parked_order (order_id, shard, reason)
            select order_id, 0, 'undecodable' from order_deadline where order_id like 'decided-%'
            union all
            values ('a-not-known-yet', 0, 'x'), ('search-05', 0, 'x'), ('search-25', 0, 'x')
            """);

    assertThat(read("/api/v1/parked", 500)).containsExactly("a-not-known-yet", "search-25");
    assertThat(read("/api/v1/parked", 1)).containsExactly("a-not-known-yet", "search-25");
    scenario.database().execute("delete from parked_order");
    delete("decided-");
  }

  private List<String> read(String list, int limit) {
    List<String> found = new ArrayList<>();
    String after = "";
    for (int pages = 0; pages < 5; pages++) {
      JsonNode page =
          viewer.get(list, "after", after, "limit", String.valueOf(limit)).assertOk().json();
      page.path("data").forEach(order -> found.add(order.path("orderId").asString()));
      if (page.path("next").isNull()) {
        return found;
      }
      after = page.path("next").asString();
    }
    throw new AssertionError("after five pages, there are more: " + found);
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

  /** Closed orders with amounts from 1, the last of which has a channel of its own. */
  private void insert(String prefix, int from, int to) {
    scenario
        .database()
        .execute(
            """
            insert into order_deadline (
              order_id, shard, state, created_at, deadline, policy, channel, amount, currency,
              decided_at, decided_by)
            select ? || lpad(i::text, 6, '0'), 0, 'CLOSED', now(), now() + make_interval(secs => i),
              'DEFAULT', case when i = ? then 'rare' else 'many' end, i, 'EUR', now(), 'CLOSING'
            from generate_series(?::int, ?::int) as i
            """,
            prefix,
            to,
            from,
            to);
  }

  private void delete(String prefix) {
    scenario.database().execute("delete from order_deadline where order_id like ? || '%'", prefix);
  }

  private static String[] with(String[] query, String... more) {
    return Stream.of(query, more).flatMap(Stream::of).toArray(String[]::new);
  }

  @Test
  void everyWrongPartOfARequestIsNamed() {
    assertThat(errors(viewer.get("/api/v1/orders", "state", "LOST", "dueFrom", "x", "page", "2")))
        .containsExactlyInAnyOrder("state", "dueFrom", "page");
    assertThat(viewer.get("/api/v1/orders/x", "page", "2").response().body())
        .contains("unknown parameter; this request has none");
    assertThat(errors(viewer.get("/api/v1/orders", "limit", "0"))).containsExactly("limit");
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

  private static void assertProblem(String body, int status, int expected, String type) {
    assertThat(status).as(body).isEqualTo(expected);
    JsonNode problem = JsonMapper.shared().readTree(body);
    assertThat(problem.path("type").asString()).isEqualTo("urn:order-timeout:problem:" + type);
    assertThat(problem.path("status").asInt()).isEqualTo(expected);
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
    Answer accept = viewer.with("Accept", "image/png").get("/api/v1/overview");
    assertProblem(accept.response().body(), accept.status(), 406, "not-acceptable");
    Answer unknown = service.http().get("/nothing");
    assertProblem(unknown.response().body(), unknown.status(), 401, "not-logged-in");
    Answer denied = viewer.post("/api/v1/pauses", Map.of());
    assertProblem(denied.response().body(), denied.status(), 403, "not-permitted");
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

  private List<String> all(String... query) {
    List<String> found = new ArrayList<>();
    @Nullable String after = null;
    do {
      JsonNode page = page(after == null ? query : with(query, "after", after));
      page.path("data").forEach(order -> found.add(order.path("orderId").asString()));
      after = page.path("next").isNull() ? null : page.path("next").asString();
    } while (after != null);
    return found;
  }

  private JsonNode page(String... query) {
    return viewer.get("/api/v1/orders", query).assertOk().json();
  }
}
