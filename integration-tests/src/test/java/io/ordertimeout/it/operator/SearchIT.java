package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
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
import tools.jackson.databind.JsonNode;

/** The lists of orders. */
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
  void ordersThatWereCancelledLateAreFound() {
    for (int i = 0; i < 5; i++) {
      String id = "late-" + i;
      scenario.create(id, 0, Scenario.in(Duration.ofHours(2 + i)));
      scenario.awaitQuiet();
      service
          .http()
          .operator()
          .post("/api/v1/order/cancel", Map.of("orderId", id, "reason", "r"))
          .assertOk();
      await().until(() -> "CANCELLED".equals(scenario.database().state(id)));
    }
    decideLate(0, "1 second");
    decideLate(1, "999999 microseconds");
    decideLate(2, "2 days 1 millisecond");
    decideLate(3, "1 second");
    decideLate(4, "");

    assertThat(all("lateByMillis", "1000")).containsExactly("late-0", "late-2", "late-3");
    assertThat(all("lateByMillis", "1000", "sort", "-deadline"))
        .containsExactly("late-3", "late-2", "late-0");
    assertThat(all("lateByMillis", "1001", "limit", "1")).containsExactly("late-2");
    assertThat(all("lateByMillis", "1000", "prefix", "late-2")).containsExactly("late-2");
    assertThat(all("lateByMillis", "0", "prefix", "late-"))
        .containsExactly("late-0", "late-1", "late-2", "late-3");
    assertThat(all("lateByMillis", "0", "state", "PAID", "state", "PENDING")).isEmpty();
    assertThat(viewer.get("/api/v1/orders", "lateByMillis", "-1").status()).isEqualTo(400);

    for (String limit : List.of("1", "2", "50")) {
      assertThat(all("sort", "-lateness", "limit", limit))
          .containsExactly("late-2", "late-3", "late-0");
      assertThat(all("sort", "lateness", "limit", limit))
          .containsExactly("late-0", "late-3", "late-2");
    }
    assertThat(all("sort", "-lateness", "prefix", "late-3")).containsExactly("late-3");
    assertThat(all("sort", "lateness", "lateByMillis", "1001")).containsExactly("late-2");
    for (String sort : List.of("lateness", "id", "deadline")) {
      JsonNode none = page("sort", sort, "state", "PAID", "lateByMillis", "0", "limit", "1");
      assertThat(none.path("data").isEmpty()).isTrue();
      assertThat(none.path("next").isNull()).isTrue();
    }
    assertThat(page("sort", "lateness", "state", "PAID", "limit", "1").path("next").isNull())
        .isTrue();
    JsonNode page = viewer.get("/api/v1/orders", "sort", "-lateness", "total", "true").json();
    assertThat(page.at("/total/orders").asInt()).isEqualTo(3);
    assertThat(page.at("/data/0/lateByMillis").asLong()).isEqualTo(172_800_001);
    assertThat(viewer.get("/api/v1/orders.csv", "prefix", "late-1").response().body())
        .startsWith("orderId,state,")
        .contains(",shard,lateByMillis\r\n")
        .endsWith(",0,999\r\n");
    assertThat(service.lateByMillis("late-1")).isEqualTo(999);
    for (String cursor : List.of("-lateness " + Long.MAX_VALUE + " 1", "-lateness -1 1")) {
      String after = Base64.getUrlEncoder().encodeToString(cursor.getBytes(StandardCharsets.UTF_8));
      assertThat(viewer.get("/api/v1/orders", "sort", "-lateness", "after", after).status())
          .isEqualTo(400);
    }
    JsonNode unknown = viewer.get("/api/v1/order", "id", "late-4").json();
    assertThat(unknown.at("/order/lateByMillis").isNull()).isTrue();
  }

  private void decideLate(int order, String late) {
    assertThat(
            scenario
                .database()
                .execute(
                    "update outbox o set due_at = o.written_at - nullif(?, '')::interval"
                        + " from order_deadline d where o.order_row = d.id and d.order_id = ?",
                    late,
                    "late-" + order))
        .isEqualTo(1);
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
  void headersAreNoCriteria() {
    assertThat(viewer.with("Prefix", "other").get("/api/v1/orders").assertOk().json().path("data"))
        .hasSizeGreaterThan(1);
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
