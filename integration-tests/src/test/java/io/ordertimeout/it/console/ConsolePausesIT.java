package io.ordertimeout.it.console;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import io.ordertimeout.it.rig.Stage;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Expiry is paused, and let go on. */
@Tag("chromium")
class ConsolePausesIT {

  private final Console console = Console.open();
  private final Stage stage = console.stage();

  @AfterEach
  void close() {
    console.close();
  }

  @Test
  void allIsPausedUntilThePauseIsEnded() {
    try (Visit visit = console.visit()) {
      visit.comeAsOperator("overview");
      assertThat(visit.page().locator(".standing")).containsText("Nothing stands in the way");
      visit.button("Pause expiry").click();
      visit.dialog().getByLabel("They stay").check();
      visit.because("the payment provider is down").confirm("Pause");
      assertThat(visit.page().locator(".standing")).containsText("nothing is cancelled");
      Instant deadline = Stage.in(Duration.ofSeconds(1));
      stage.create("held", 0, deadline);
      stage.awaitPast(deadline);
      assertThat(visit.figure("overdue")).hasText("1");
      assertThat(stage.database().state("held")).isEqualTo("PENDING");

      visit.button("End pause 1").click();
      visit.because("it is up again").confirm("End the pause");
      stage.outcomes().awaitCancelled("held");
      assertThat(visit.page().locator(".standing")).containsText("Nothing stands in the way");
      assertThat(visit.figure("overdue")).hasText("0");

      visit.go("pauses");
      Locator pause = visit.page().locator("main tbody tr");
      assertThat(pause).containsText("the payment provider is down");
      assertThat(pause).containsText("by operator");
    }
  }

  @Test
  void aChannelIsPausedForAWhileAndItsDeadlinesMove() {
    try (Visit visit = console.visit()) {
      visit.comeAsOperator("pauses");
      visit.button("Pause expiry").click();
      visit.dialog().getByLabel("Those of one channel").check();
      visit.dialog().getByLabel("They move").check();
      visit.dialog().getByText("in 4 h").click();
      visit.because("store <closed> é 漢").press("Pause");
      assertThat(visit.complaint()).containsText("Name the channel");
      visit
          .dialog()
          .getByLabel("Channel", new Locator.GetByLabelOptions().setExact(true))
          .fill("store");
      visit.confirm("Pause");

      Locator item = visit.page().locator(".item");
      assertThat(item).containsText("Paused: channel store");
      assertThat(item).containsText("in 3 h 59 min; deadlines move");
      assertThat(item).containsText("store <closed> é 漢");
      assertThat(stage.database().text("select channel from expiry_pause where moves_deadlines"))
          .isEqualTo("store");

      stage.shop().created("of the store", Map.of("timeout", "PT1S", "channel", "store"));
      stage.shop().created("of the web", Map.of("timeout", "PT1S", "channel", "web"));
      stage.outcomes().awaitCancelled("of the web");
      visit.go("order?id=of%20the%20store");
      assertThat(visit.page().locator(".waits")).containsText("Pause 1 suspends expiry for channel store");
    }
  }

  @Test
  void aHoldIsLifted() {
    stage
        .database()
        .execute(
            "insert into expiry_hold (shard, reason, detail)"
                + " values (1, 'LOST_RECORDS', 'order-paid-1 begins at 7, read up to 3')");
    try (Visit visit = console.visit()) {
      visit.comeAsOperator("overview");
      assertThat(visit.page().locator(".standing")).containsText("Shard 1 held");
      visit.go("shards");
      assertThat(visit.page().locator("main tbody tr").nth(1)).containsText("Held");
      visit.go("pauses");
      visit.button("Lift the hold of shard 1").click();
      visit.because("the payments were published again").confirm("Lift the hold");
      assertThat(visit.page().locator("main")).containsText("No shard is held.");
      assertThat(stage.database().count("select count(*) from expiry_hold where lifted_at is null"))
          .isZero();
    }
  }

  @Test
  void aPauseCanBePlacedAndEndedWithTheKeyboardAlone() {
    try (Visit visit = console.visit()) {
      visit.comeAsOperator("overview");
      Page page = visit.page();
      page.reload();
      visit.awaitLive();
      // Past the top, into the content.
      page.keyboard().press("Tab");
      assertThat(page.locator(":focus")).hasText("Skip to the content");
      page.keyboard().press("Enter");
      assertThat(page.locator(":focus")).hasText("Overview");

      tabTo(visit, "Pause expiry …");
      page.keyboard().press("Enter");
      assertThat(visit.dialog()).isVisible();
      assertThat(visit.dialog().getByLabel("All orders")).isFocused();
      page.keyboard().press("Escape");
      assertThat(visit.dialog()).hasCount(0);
      assertThat(visit.button("Pause expiry")).isFocused();

      page.keyboard().press("Enter");
      assertThat(visit.dialog().getByLabel("All orders")).isFocused();
      page.keyboard().press("Tab");
      page.keyboard().press("Tab");
      page.keyboard().press("Space");
      assertThat(visit.dialog().getByLabel("They stay")).isChecked();
      page.keyboard().press("ArrowDown");
      assertThat(visit.dialog().getByLabel("They move")).isChecked();
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

      tabTo(visit, "End the pause");
      page.keyboard().press("Enter");
      assertThat(visit.dialog().getByLabel("Reason")).isFocused();
      page.keyboard().type("done");
      page.keyboard().press("Tab");
      page.keyboard().press("Tab");
      page.keyboard().press("Enter");
      assertThat(page.locator(".standing")).containsText("Nothing stands in the way");
      // What had the focus is gone: it is at the top of the view, not lost.
      assertThat(page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setLevel(1)))
          .isFocused();
    }
  }

  /** Presses Tab until the button of that text has the focus. */
  private static void tabTo(Visit visit, String text) {
    Page page = visit.page();
    Object first = null;
    while (!text.equals(page.evaluate("() => document.activeElement.textContent"))) {
      page.keyboard().press("Tab");
      Object now = page.evaluate("() => document.activeElement === document.body");
      if (first != null && now.equals(true)) {
        throw new AssertionError("Tab does not lead to '" + text + "'");
      }
      first = now;
    }
  }
}
