package io.ordertimeout.it.console;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import io.ordertimeout.it.support.TcpProxy;
import java.net.URI;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Live updates of the overview, and its behaviour when they stop. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("chromium")
class ConsoleLiveIT {

  private final Console console = Console.open();

  /**
   * How many orders the tests have created so far. All of them are pending until the last test
   * ends.
   */
  private int created;

  @AfterAll
  void close() {
    console.close();
  }

  @Test
  void updatesFiguresWithoutAReload() {
    try (Visit visit = console.visit()) {
      visit.openAsViewer("overview");
      assertThat(visit.page().locator("#version"))
          .hasText(Pattern.compile("Order timeout \\d+\\.\\d+\\.\\d+\\S*"));
      assertPending(visit);
      visit.page().evaluate("() => { window.loadedOnce = true; }");
      for (int i = 0; i < 3; i++) {
        create("live-" + i, "CHF");
      }

      assertPending(visit);
      assertThat(
              visit
                  .page()
                  .getByRole(
                      AriaRole.TABLE,
                      new Page.GetByRoleOptions()
                          .setName("Orders and amounts due within the next hour")))
          .containsText(Pattern.compile("CHF.*7\\.50"));
      assertThat(visit.page().locator(".plot").first())
          .hasAttribute("aria-label", Pattern.compile("maximum [1-9]"));
      assertThat(visit.page().evaluate("() => window.loadedOnce")).isEqualTo(true);
    }
  }

  @Test
  void marksDataAsStaleUntilTheServiceIsReachableAgain() {
    URI direct = console.service().http().base();
    try (TcpProxy way = TcpProxy.to(direct.getPort());
        Visit visit =
            console
                .chromium()
                .visit(URI.create("http://127.0.0.1:" + way.port()), Look.DESKTOP_LIGHT)
                .expectingCuts()) {
      visit.openAsViewer("overview");
      assertPending(visit);
      way.refuse();
      assertThat(visit.page().locator("#stale")).containsText("The service is unreachable");
      assertThat(visit.page().locator("#connection")).containsText("Stale");
      // Nothing looks good any more.
      assertThat(visit.page().locator("main")).hasCSS("filter", "grayscale(1)");

      create("while-cut", "EUR");
      way.restore();
      assertThat(visit.page().locator("#stale")).isHidden();
      visit.awaitLive();
      assertPending(visit);
    }
  }

  @Test
  void reconnectsWhenTheConnectionGoesSilent() {
    URI direct = console.service().http().base();
    try (TcpProxy way = TcpProxy.to(direct.getPort());
        Visit visit =
            console
                .chromium()
                .visit(URI.create("http://127.0.0.1:" + way.port()), Look.DESKTOP_LIGHT)
                .expectingCuts()) {
      visit.openAsViewer("overview");
      way.blackHole();
      assertThat(visit.page().locator("#stale")).isVisible();
      assertThat(visit.page().locator("#stale")).containsText("The service is unreachable");
      way.restore();
      assertThat(visit.page().locator("#stale")).isHidden();
    }
  }

  @Test
  void showsTheForecastAsATable() {
    create("in a table", "EUR");
    try (Visit visit = console.visit()) {
      visit.openAsViewer("overview");
      visit.page().locator("figure").first().getByText("Show as table").click();
      assertThat(visit.page().locator("figure").first().locator("tbody tr")).hasCount(60);
    }
  }

  private void assertPending(Visit visit) {
    assertThat(visit.figure("pending")).hasText(String.valueOf(created));
  }

  /** An order that is due within the next hour, and not before the last test ends. */
  private void create(String orderId, String currency) {
    created++;
    console
        .scenario()
        .shop()
        .created(
            orderId,
            Map.of("timeout", "PT50M", "amount", Map.of("value", 2.5, "currency", currency)));
  }
}
