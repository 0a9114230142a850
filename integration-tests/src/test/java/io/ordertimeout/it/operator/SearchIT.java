package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.JsonNode;

/** The search for orders by state, deadline and prefix of the id, page by page. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SearchIT {

  private final Scenario scenario = Scenario.create();
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

  @AfterAll
  void close() {
    service.close();
    scenario.close();
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
    assertThat(all("limit", "500")).hasSize(61);
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
            // The cursor of a search by prefix.
            new String[] {"after", "MCBzZWFyY2gtMTI"})) {
      Answer answer = viewer.get("/api/v1/orders", query);
      assertThat(answer.status()).as(query[0] + "=" + query[1]).isEqualTo(400);
      assertThat(answer.header("Content-Type")).startsWith("application/problem+json");
    }
    assertThat(viewer.get("/api/v1/order", "id", "unknown").status()).isEqualTo(404);
  }

  private List<String> all(String... query) {
    List<String> found = new ArrayList<>();
    @Nullable String after = null;
    do {
      List<String> parameters = new ArrayList<>(List.of(query));
      if (after != null) {
        parameters.addAll(List.of("after", after));
      }
      JsonNode page =
          viewer.get("/api/v1/orders", parameters.toArray(String[]::new)).assertOk().json();
      page.path("data").forEach(order -> found.add(order.path("orderId").asString()));
      after = page.path("next").isNull() ? null : page.path("next").asString();
    } while (after != null);
    return found;
  }
}
