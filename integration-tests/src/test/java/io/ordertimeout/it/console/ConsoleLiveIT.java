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

/** What is shown is what is so, and says when it is not. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("chromium")
class ConsoleLiveIT {

  private final Console console = Console.open();

  @AfterAll
  void close() {
    console.close();
  }

  @Test
  void numbersChangeWithoutAReload() {
    try (Visit visit = console.visit()) {
      visit.comeAsViewer("overview");
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
                          .setName("Orders and amounts that come due within some minutes")))
          .containsText(Pattern.compile("CHF.*7\\.50"));
      assertThat(visit.page().locator(".plot").first())
          .hasAttribute("aria-label", Pattern.compile("at most [1-9]"));
      assertThat(visit.page().evaluate("() => window.loadedOnce")).isEqualTo(true);
    }
  }

  @Test
  void whatIsOldSaysSoAndIsNewAgainOnceTheServiceIsBack() {
    URI direct = console.service().http().base();
    try (TcpProxy way = TcpProxy.to(direct.getPort());
        Visit visit =
            console
                .chromium()
                .visit(URI.create("http://127.0.0.1:" + way.port()), Look.DESKTOP_LIGHT)
                .expectingCuts()) {
      visit.comeAsViewer("overview");
      String before = visit.figure("pending").textContent();
      way.refuse();
      assertThat(visit.page().locator("#old")).containsText("The service cannot be reached");
      assertThat(visit.page().locator("#connection")).containsText("Old");

      create("while-cut", "PT4M", "EUR");
      way.restore();
      assertThat(visit.page().locator("#old")).isHidden();
      visit.awaitLive();
      assertThat(visit.figure("pending")).hasText(String.valueOf(Integer.parseInt(before) + 1));
    }
  }

  @Test
  void aConnectionThatHasGoneSilentIsMadeAnew() {
    URI direct = console.service().http().base();
    try (TcpProxy way = TcpProxy.to(direct.getPort());
        Visit visit =
            console
                .chromium()
                .visit(URI.create("http://127.0.0.1:" + way.port()), Look.DESKTOP_LIGHT)
                .expectingCuts()) {
      visit.comeAsViewer("overview");
      way.blackHole();
      assertThat(visit.page().locator("#old")).isVisible();
      assertThat(visit.page().locator("#old")).containsText("The service cannot be reached");
      way.restore();
      assertThat(visit.page().locator("#old")).isHidden();
    }
  }

  @Test
  void theForecastCanBeReadAsATable() {
    create("in a table", "PT2M", "EUR");
    try (Visit visit = console.visit()) {
      visit.comeAsViewer("overview");
      visit.page().locator("figure").first().getByText("As a table").click();
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
