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
      String before = visit.figure("pending").textContent();
      visit.page().evaluate("() => { window.loadedOnce = true; }");
      for (int i = 0; i < 3; i++) {
        create("live-" + i, "PT4M", "CHF");
      }

      int pending = Integer.parseInt(before) + 3;
      assertThat(visit.figure("pending")).hasText(String.valueOf(pending));
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
      String before = visit.figure("pending").textContent();
      way.refuse();
      assertThat(visit.page().locator("#stale")).containsText("The service is unreachable");
      assertThat(visit.page().locator("#connection")).containsText("Stale");
      // Nothing looks good any more.
      assertThat(visit.page().locator("main")).hasCSS("filter", "grayscale(1)");

      create("while-cut", "PT4M", "EUR");
      way.restore();
      assertThat(visit.page().locator("#stale")).isHidden();
      visit.awaitLive();
      assertThat(visit.figure("pending")).hasText(String.valueOf(Integer.parseInt(before) + 1));
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
    create("in a table", "PT2M", "EUR");
    try (Visit visit = console.visit()) {
      visit.openAsViewer("overview");
      visit.page().locator("figure").first().getByText("Show as table").click();
      assertThat(visit.page().locator("figure").first().locator("tbody tr")).hasCount(60);
    }
  }

  private void create(String orderId, String timeout, String currency) {
    console
        .scenario()
        .shop()
        .created(
            orderId,
            Map.of("timeout", timeout, "amount", Map.of("value", 2.5, "currency", currency)));
  }
}
