package io.ordertimeout.it.console;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.SuspensionRows;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Pausing expiry, ending pauses and lifting holds. */
@Tag("chromium")
@Order(30)
class ConsolePausesIT {

  private final Console console = Console.open();
  private final Scenario scenario = console.scenario();

  @AfterEach
  void close() {
    console.close();
  }

  @Test
  void pausesAllOrdersUntilThePauseIsEnded() {
    try (Visit visit = console.visit()) {
      visit.openAsOperator("overview");
      assertThat(visit.page().locator(".status")).containsText("Operating normally");
      visit.button("Pause expiry").click();
      visit.dialog().getByLabel("Keep deadlines").check();
      visit.because("the payment provider is down").confirm("Pause expiry");
      assertThat(visit.page().locator(".status")).containsText("no order is cancelled");
      assertThat(visit.page().locator("#pause")).containsText("Paused: all orders");
      Instant deadline = Scenario.in(Duration.ofSeconds(1));
      scenario.create("held", 0, deadline);
      scenario.awaitPast(deadline);
      assertThat(visit.page().locator("[data-tile=overdue]"))
          .containsText("1 order, held by the pause");
      assertThat(visit.page().locator(".status .bad")).hasCount(0);
      assertThat(visit.figure("watermark-lag")).hasText("–");
      assertThat(scenario.database().state("held")).isEqualTo("PENDING");

      visit.button("End pause 1").click();
      assertThat(visit.dialog()).containsText("1 order is cancelled at once");
      visit.because("it is up again").confirm("End pause");
      scenario.outcomes().awaitCancelled("held");
      assertThat(visit.page().locator(".status")).containsText("Operating normally");
      assertThat(visit.figure("overdue")).hasText("0");

      visit.go("pauses");
      Locator pause = visit.page().locator("main tbody tr");
      assertThat(pause).containsText("the payment provider is down");
      assertThat(pause).containsText("by operator");
    }
  }

  @Test
  void thePauseOfAnEmergencyNeedsNoChoice() {
    try (Visit visit = console.visit()) {
      visit.openAsOperator("overview");
      assertThat(visit.page().locator("section[aria-labelledby=suspensions]")).isHidden();
      visit.button("Pause expiry").click();
      visit.confirm("Pause expiry");
      assertThat(visit.page().locator("#pause")).containsText("Paused: all orders");
      // Nobody is cancelled by its end without having had the whole time to pay.
      assertThat(visit.page().locator("section[aria-labelledby=suspensions]"))
          .containsText("until an operator ends it; extends deadlines.");
      assertThat(visit.page().locator("section[aria-labelledby=suspensions]"))
          .containsText("The cause is being examined");
    }
  }

  @Test
  void pausesOneChannelForSomeTimeAndExtendsDeadlines() {
    try (Visit visit = console.visit()) {
      visit.openAsOperator("pauses");
      visit.button("Pause expiry").click();
      visit.dialog().getByLabel("Scope").selectOption("Another channel…");
      visit.dialog().getByLabel("Extend deadlines").check();
      visit.dialog().getByText("in 4 h").click();
      visit.because("store <closed> é 漢").press("Pause expiry");
      assertThat(visit.dialogError()).containsText("Enter a channel");
      visit
          .dialog()
          .getByLabel("Channel", new Locator.GetByLabelOptions().setExact(true))
          .fill("store");
      assertThat(visit.dialog())
          .containsText("No order that comes due within the next hour has the channel store");
      visit.page().setViewportSize(390, 844);
      assertThat(visit.dialog().locator("button.danger")).isInViewport();
      visit.page().setViewportSize(1366, 768);
      assertThat(visit.dialog().evaluate("dialog => dialog.scrollHeight - dialog.clientHeight"))
          .isEqualTo(0);
      visit.confirm("Pause expiry");
      assertThat(visit.page().locator("#pause")).containsText("Paused: channel store");

      Locator item = visit.page().locator(".item");
      assertThat(item).containsText("Paused: channel store");
      assertThat(item).containsText("(in 3 h 59 min); extends deadlines");
      assertThat(item).containsText("store <closed> é 漢");
      assertThat(scenario.database().text("select channel from suspension where moves_deadlines"))
          .isEqualTo("store");

      scenario.shop().created("of the store", Map.of("timeout", "PT1S", "channel", "store"));
      scenario.shop().created("of the web", Map.of("timeout", "PT1S", "channel", "web"));
      scenario.outcomes().awaitCancelled("of the web");
      visit.go("order?id=of%20the%20store");
      assertThat(visit.page().locator(".waiting"))
          .containsText("Pause 1 suspends expiry for channel store");
    }
  }

  @Test
  void theEndOfAPauseStatesWhatItDoesAndIsConfirmedIfItIsMuch() {
    // Orders of a shard without an owner, which no instance decides.
    scenario
        .database()
        .execute(
            """
            insert into order_deadline (
              order_id, shard, state, created_at, deadline, channel, amount, currency)
            select 'late-' || i, 9, 'PENDING', clock_timestamp() - interval '2 hours',
              clock_timestamp() - interval '1 hour', 'web', 2.5, 'EUR'
            from generate_series(1, 1200) as i
            """);
    scenario
        .shop()
        .created(
            "due later",
            Map.of(
                "timeout",
                "PT40M",
                "channel",
                "web",
                "amount",
                Map.of("value", 12.5, "currency", "EUR")));
    String channel = "Channel web (1)";
    try (Visit visit = console.visit()) {
      visit.openAsOperator("audit");
      await("the channel in the dialog")
          .atMost(Duration.ofMinutes(1))
          .until(
              () ->
                  console
                      .service()
                      .http()
                      .viewer()
                      .get("/api/v1/forecast")
                      .json()
                      .at("/channels/0/channel")
                      .asString("")
                      .equals("web"));
      visit.page().reload();
      visit.awaitLive().button("Pause expiry").click();
      visit.dialog().getByLabel("Scope").selectOption(channel);
      assertThat(visit.dialog()).containsText("The pause covers 1 order worth €12.50");
      visit.dialog().getByLabel("Keep deadlines").check();
      visit.because("too many").confirm("Pause expiry");

      visit.go("pauses");
      visit.button("End pause 1").click();
      assertThat(visit.dialog())
          .containsText("1,200 orders, €3,000.00 are cancelled at once unless payments");
      visit.because("enough").dialog().getByLabel("To confirm").fill("120");
      visit.press("End pause");
      assertThat(visit.dialogError()).containsText("Type 1200 to confirm");
      visit.dialog().getByLabel("To confirm").fill("1,200");
      visit.confirm("End pause");
      assertThat(visit.page().locator("main")).containsText("Expiry is not paused.");
    }
  }

  @Test
  void liftsAHold() {
    SuspensionRows.hold(scenario.database(), 1, "order-paid-1 begins at 7, read up to 3");
    try (Visit visit = console.visit()) {
      visit.openAsOperator("overview");
      assertThat(visit.page().locator(".status")).containsText("Shard 1 is held");
      visit.go("shards");
      assertThat(visit.page().locator("main tbody tr").nth(1)).containsText("Held");
      visit.go("pauses");
      visit.button("Lift hold on shard 1").click();
      visit.because("the payments were published again").confirm("Lift hold");
      assertThat(visit.page().locator("main")).containsText("No shard is held.");
      assertThat(scenario.database().count(SuspensionRows.HOLDS_IN_FORCE)).isZero();
    }
  }

  @Test
  void placesAndEndsAPauseWithTheKeyboardOnly() {
    try (Visit visit = console.visit()) {
      visit.openAsOperator("overview");
      Page page = visit.page();
      page.reload();
      visit.awaitLive();
      page.keyboard().press("Tab");
      assertThat(page.locator(":focus")).hasText("Skip to content");
      tabTo(visit, "Pause expiry…");
      page.keyboard().press("Enter");
      assertThat(visit.dialog()).isVisible();
      assertThat(visit.dialog().getByLabel("Scope")).isFocused();
      page.keyboard().press("Escape");
      assertThat(visit.dialog()).hasCount(0);
      assertThat(visit.button("Pause expiry")).isFocused();

      page.keyboard().press("Enter");
      assertThat(visit.dialog().getByLabel("Scope")).isFocused();
      while (!"deadlines".equals(page.evaluate("() => document.activeElement.name"))) {
        page.keyboard().press("Tab");
      }
      assertThat(visit.dialog().getByLabel("Extend deadlines")).isChecked();
      page.keyboard().press("ArrowDown");
      assertThat(visit.dialog().getByLabel("Keep deadlines")).isChecked();
      page.keyboard().press("ArrowUp");
      assertThat(visit.dialog().getByLabel("Extend deadlines")).isChecked();
      while (!"reason".equals(page.evaluate("() => document.activeElement.name"))) {
        page.keyboard().press("Tab");
      }
      page.keyboard().type("by keyboard");
      page.keyboard().press("Tab");
      page.keyboard().press("Tab");
      page.keyboard().press("Enter");
      assertThat(visit.dialog()).hasCount(0);
      assertThat(page.locator(".item").first()).containsText("by keyboard");
      assertThat(visit.button("Pause expiry")).isFocused();

      tabTo(visit, "End pause");
      page.keyboard().press("Enter");
      assertThat(visit.dialog().getByLabel("Reason")).isFocused();
      assertThat(visit.dialog()).containsText("No order is cancelled at once");
      page.keyboard().type("done");
      page.keyboard().press("Tab");
      page.keyboard().press("Tab");
      page.keyboard().press("Enter");
      assertThat(page.locator(".status")).containsText("Operating normally");
      // The focused button is gone; the focus moves to the heading of the view.
      assertThat(page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setLevel(1)))
          .isFocused();
    }
  }

  /** Presses Tab until the button with the given text has the focus. */
  private static void tabTo(Visit visit, String text) {
    Page page = visit.page();
    Object first = null;
    while (!text.equals(page.evaluate("() => document.activeElement.textContent"))) {
      page.keyboard().press("Tab");
      Object now = page.evaluate("() => document.activeElement === document.body");
      if (first != null && now.equals(true)) {
        throw new AssertionError("Tab does not reach '" + text + "'");
      }
      first = now;
    }
  }
}
