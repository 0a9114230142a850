package io.ordertimeout.it.console;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Download;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import io.ordertimeout.it.support.Scenario;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Searching, inspecting and changing orders. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("chromium")
class ConsoleOrdersIT {

  private final Console console = Console.open();
  private final Scenario scenario = console.scenario();

  @AfterAll
  void close() {
    console.close();
  }

  @Test
  void findsOrdersByStateAndIdPrefixPageByPage() {
    Instant deadline = Scenario.in(Duration.ofHours(2));
    for (int i = 0; i < 60; i++) {
      scenario.create("found-%02d".formatted(i), 0, deadline.plusSeconds(i));
    }
    scenario.pay("found-07", 0);
    scenario.awaitState("found-07", "PAID");
    try (Visit visit = console.visit()) {
      visit.openAsViewer("orders");
      Page page = visit.page();
      page.getByLabel("Order ID starts with").fill("found-");
      visit.button("Search").click();
      assertThat(rows(visit)).hasCount(50);
      assertThat(rows(visit).first()).containsText("found-00");
      assertThat(visit.page().locator("main")).containsText("The first 50 of 60 orders");
      visit.link("Next page").click();
      // A search by id covers all states.
      assertThat(rows(visit)).hasCount(10);
      assertThat(visit.page().locator("main")).containsText("The last 10 of 60 orders");
      page.goBack();
      assertThat(rows(visit)).hasCount(50);

      page.getByLabel("Paid").check();
      visit.button("Search").click();
      assertThat(rows(visit)).hasCount(1);
      assertThat(rows(visit)).containsText("found-07");
      visit.link("found-07").click();
      assertThat(visit.heading()).hasText("Order found-07");
    }
  }

  @Test
  void opensAnOrderByItsIdFromAnyPage() {
    String channel = "a channel with a long name ".repeat(7);
    scenario.shop().created("wanted", Map.of("timeout", "PT1H", "channel", channel));
    scenario.create("wanted-too", 0, Scenario.in(Duration.ofHours(1)));
    scenario.awaitState("wanted", "PENDING");
    scenario.awaitState("wanted-too", "PENDING");
    scenario.pay("wanted", 0);
    scenario.awaitState("wanted", "PAID");
    try (Visit visit = console.visit()) {
      visit.openAsViewer("audit");
      find(visit, "wanted");
      assertThat(visit.heading()).hasText("Order wanted");

      find(visit, "wante");
      assertThat(visit.heading()).hasText("Orders");
      assertThat(rows(visit)).hasCount(2);
      Locator clipped = visit.page().locator(".clipped");
      double narrow = clipped.boundingBox().height;
      clipped.focus();
      assertThat(clipped.boundingBox().height).isGreaterThan(2 * narrow);
    }
  }

  private static void find(Visit visit, String id) {
    visit.page().getByLabel("Find an order by its ID").fill(id);
    visit.button("Find").click();
  }

  @Test
  void findsOrdersByDeadline() {
    Instant deadline = Instant.parse("2027-06-01T10:00:00Z");
    scenario.create("of-june", 0, deadline, Instant.now());
    scenario.awaitState("of-june", "PENDING");
    try (Visit visit = console.visit()) {
      visit.openAsViewer("orders");
      // Noon in Berlin.
      visit.page().getByLabel("Deadline from").fill("2027-06-01T12:00");
      visit.page().getByLabel("Deadline before").fill("2027-06-01T12:00:01");
      visit.button("Search").click();
      assertThat(rows(visit)).hasCount(1);
      assertThat(rows(visit)).containsText("of-june");
      assertThat(rows(visit).locator("time")).hasAttribute("title", "2027-06-01 10:00:00 UTC");

      visit.page().getByLabel("Deadline from").fill("2027-06-01T12:00:01");
      visit.page().getByLabel("Deadline before").fill("2027-06-01T12:00:02");
      visit.button("Search").click();
      assertThat(visit.page().locator("main")).containsText("No orders match your search.");
    }
  }

  @Test
  void sortsOrdersByLateness() {
    for (String id : List.of("late-little", "late-much", "late-hardly")) {
      scenario.create(id, 0, Scenario.in(Duration.ofHours(3)));
      scenario.awaitState(id, "PENDING");
      console.service().makeDue(id);
      scenario.awaitState(id, "CANCELLED");
    }
    decideLate("late-little", "4 seconds");
    decideLate("late-much", "92 seconds");
    decideLate("late-hardly", "999 milliseconds");
    try (Visit visit = console.visit()) {
      visit.openAsViewer("orders?prefix=late-&state=PENDING");
      Page page = visit.page();
      page.getByLabel("Sort by").selectOption("-lateness");
      assertThat(rows(visit)).hasCount(2);
      assertThat(rows(visit).first()).containsText("late-much");
      assertThat(rows(visit).first()).containsText("1 min 32 s");
      page.getByRole(AriaRole.COLUMNHEADER, new Page.GetByRoleOptions().setName("Late by"))
          .getByRole(AriaRole.LINK)
          .click();
      assertThat(rows(visit).first()).containsText("late-little");
      visit.go("order?id=late-much");
      assertThat(timeline(visit).filter(new Locator.FilterOptions().setHasText("after it was due")))
          .containsText("1 min 32 s after it was due");
    }
  }

  private void decideLate(String orderId, String late) {
    assertThat(
            scenario
                .database()
                .execute(
                    "update outbox o set due_at = o.written_at - ?::interval from order_deadline d"
                        + " where o.order_row = d.id and d.order_id = ?",
                    late,
                    orderId))
        .isEqualTo(1);
  }

  @Test
  void filtersSortsAndExportsOrders() throws IOException {
    for (int i = 1; i <= 3; i++) {
      scenario
          .shop()
          .created(
              "=sold-" + i,
              Map.of(
                  "timeout",
                  "PT" + i + "H",
                  "channel",
                  "fair",
                  "amount",
                  Map.of("value", 10 * i, "currency", "EUR")));
      scenario.awaitState("=sold-" + i, "PENDING");
    }
    try (Visit visit = console.visit()) {
      visit.openAsViewer("orders");
      Page page = visit.page();
      page.getByLabel("Channel").fill("fair");
      page.getByLabel("From", new Page.GetByLabelOptions().setExact(true)).fill("15");
      visit.button("Search").click();
      // The browser validates that there is a currency.
      assertThat(visit.heading()).hasText("Orders");
      page.getByLabel("Currency").fill("EUR");
      visit.button("Search").click();
      assertThat(rows(visit)).hasCount(2);
      assertThat(page.locator("main [role=status]").first()).containsText("2 orders");
      assertThat(rows(visit).first()).containsText("=sold-2");
      page.getByRole(AriaRole.COLUMNHEADER, new Page.GetByRoleOptions().setName("Deadline"))
          .getByRole(AriaRole.LINK)
          .click();
      assertThat(rows(visit).first()).containsText("=sold-3");
      assertThat(page.getByLabel("Sort by")).hasValue("-deadline");
      page.getByLabel("Page size").selectOption("100");
      assertThat(page).hasURL(Pattern.compile("size=100"));
      assertThat(rows(visit)).hasCount(2);

      Download download = page.waitForDownload(() -> visit.button("Export CSV").click());
      assertThat(download.suggestedFilename()).isEqualTo("orders.csv");
      assertThat(Files.readString(download.path()))
          .startsWith("orderId,state,deadline,")
          .contains("\r\n'=sold-3,PENDING,")
          .contains(",30,EUR,fair,");
      assertThat(page.locator(".notice")).containsText("2 orders exported");
    }
  }

  @Test
  void changesManyOrdersWithOneReason() {
    for (int i = 0; i < 12; i++) {
      scenario.create("many-%02d".formatted(i), 0, Scenario.in(Duration.ofHours(1)));
    }
    scenario.awaitState("many-11", "PENDING");
    try (Visit visit = console.visit()) {
      visit.openAsOperator("orders?prefix=many-&state=PENDING");
      assertThat(rows(visit)).hasCount(12);
      visit.page().getByLabel("Select order many-00").check();
      assertThat(visit.page().locator(".bulk")).containsText("1 selected");
      visit.page().getByLabel("Select all 12 pending orders").check();
      assertThat(visit.page().locator(".bulk")).containsText("12 selected");
      assertThat(visit.page().getByLabel("Select order many-11")).isChecked();
      scenario.pay("many-07", 0);
      scenario.awaitState("many-07", "PAID");

      visit.button("Extend").click();
      visit.dialog().getByText("+1 day").click();
      visit.because("the provider was down").confirm("Extend deadlines");
      Locator notice = visit.page().locator(".notice");
      assertThat(notice).containsText("11 of 12 orders extended");
      assertThat(notice.locator("li")).hasCount(1);
      assertThat(notice).containsText("many-07: the order has been PAID");
      assertThat(rows(visit)).hasCount(11);

      visit.page().getByLabel("Select all 11 pending orders").check();
      visit.button("Cancel now").click();
      visit.dialog().getByLabel("Type 11 to confirm").fill("12");
      visit.because("fraud").press("Cancel orders");
      assertThat(visit.dialogError()).containsText("Type 11");
      visit.dialog().getByLabel("Type 11 to confirm").fill("11");
      visit.confirm("Cancel orders");
      assertThat(notice).containsText("11 orders due now");
      scenario.outcomes().awaitCancelled("many-00");
      scenario.outcomes().awaitCancelled("many-11");

      scenario.pay("many-00", 0);
      scenario.outcomes().awaitConflicts("many-00", 1);
      visit.go("conflicts");
      Locator conflict = rows(visit).filter(new Locator.FilterOptions().setHasText("many-00"));
      assertThat(conflict).hasCount(1);
      assertThat(conflict).containsText("Cancelled");

      conflict.getByLabel("End the conflict").click();
      visit.dialog().getByLabel("ignored: nothing is to be done").check();
      visit.because("a test").confirm("End conflict");
      assertThat(conflict).hasCount(0);
      visit.go("conflicts?open=false");
      assertThat(conflict).containsText("Ignored by operator");
    }
  }

  @Test
  void aCancelledOrderWithAPaymentSaysWhatToDo() {
    scenario.create("paid too late", 0, Scenario.in(Duration.ofSeconds(1)));
    String cancellation = scenario.outcomes().awaitCancelled("paid too late").text("eventId");
    try (Visit visit = console.visit()) {
      visit.openAsOperator("order?id=paid%20too%20late");
      // The record is in Kafka before its publication is stored; a conflict between the two would
      // stand between them in the timeline.
      assertThat(timeline(visit).last()).containsText("Cancellation published");
      scenario.shop().paid("paid too late", "payment-of-8-euros");
      Locator summary = visit.page().locator(".summary");
      assertThat(summary.locator(".big")).hasText("Cancelled, but a payment arrived");
      assertThat(summary)
          .containsText(
              "Payment payment-of-8-euros arrived after the order had been cancelled. Refund it or"
                  + " deliver nevertheless");
      assertThat(timeline(visit))
          .containsText(
              new Pattern[] {
                Pattern.compile("Created"),
                Pattern.compile("Registered by intake, .* after the creation"),
                Pattern.compile("Cancelled by .*, .* after it was due"),
                Pattern.compile("Cancellation published by relay, .* after the decision"),
                Pattern.compile("Payment conflict by .*, .* after the payment"),
                Pattern.compile("Conflict published by relay, .* after it was detected")
              });
      assertThat(summary.locator(".explanation")).containsText("payment made at ");
      assertThat(summary.locator(".explanation")).not().containsText("payment-of-8-euros");
      assertThat(summary.locator(".explanation")).not().containsText(cancellation);
      assertThat(summary.locator(".facts")).containsText("payment-of-8-euros");
      assertThat(summary.locator(".facts")).containsText(cancellation);

      visit.button("End the conflict of payment payment-of-8-euros").click();
      visit.because("the customer has the money").confirm("End conflict");
      assertThat(summary.locator(".big")).hasText("Cancelled");
      assertThat(summary).containsText("Payment payment-of-8-euros arrived too late: refunded.");
    }
  }

  @Test
  void updatesTheTimelineOfAnOrder() {
    scenario
        .shop()
        .created(
            "timeline",
            Map.of(
                "timeout",
                "PT1H",
                "channel",
                "web",
                "amount",
                Map.of("value", 12.5, "currency", "EUR")));
    scenario.awaitState("timeline", "PENDING");
    try (Visit visit = console.visit()) {
      visit.openAsViewer("order?id=timeline");
      assertThat(visit.page().locator(".summary")).containsText("€12.50");
      assertThat(visit.page().locator(".waiting")).containsText("The order is due in 59 min");
      assertThat(timeline(visit)).containsText(new String[] {"Created", "Registered"});

      scenario.shop().paid("timeline", "p-1");
      assertThat(timeline(visit)).containsText(new String[] {"Created", "Registered", "Paid"});
      assertThat(visit.page().locator(".summary")).containsText("p-1");
      assertThat(visit.page().locator(".waiting")).hasCount(0);
    }
  }

  @Test
  void extendsAnOrderAndRecordsTheReason() {
    scenario.create("extended", 0, Scenario.in(Duration.ofHours(1)));
    scenario.awaitState("extended", "PENDING");
    Instant first = Objects.requireNonNull(scenario.database().deadline("extended"));
    try (Visit visit = console.visit()) {
      visit.openAsOperator("order?id=extended");
      visit.button("Extend").click();
      visit.press("Extend deadline");
      // The browser validates that a reason is given.
      assertThat(visit.dialog()).isVisible();
      visit.dialog().getByText("+1 day").click();
      visit.because("the customer <b>asked</b>").confirm("Extend deadline");

      Locator entry = timeline(visit).last();
      assertThat(entry).containsText("Deadline extended by operator");
      assertThat(entry).containsText("the customer <b>asked</b>");
      assertThat(visit.page().locator("#toast")).containsText("The deadline has been extended");
      Instant second = Objects.requireNonNull(scenario.database().deadline("extended"));
      assertThat(Duration.between(first, second))
          .isBetween(Duration.ofHours(23), Duration.ofHours(25));

      visit.link("Audit log of this order").click();
      assertThat(rows(visit)).hasCount(1);
      assertThat(rows(visit)).containsText("extended the deadline of order extended");
    }
  }

  @Test
  void cancelsAnOrderImmediately() {
    scenario.create("fraud", 0, Scenario.in(Duration.ofHours(1)));
    scenario.awaitState("fraud", "PENDING");
    try (Visit visit = console.visit()) {
      visit.openAsOperator("order?id=fraud");
      visit.button("Cancel now").click();
      visit.because("fraud").confirm("Cancel order");
      scenario.outcomes().awaitCancelled("fraud");
      assertThat(timeline(visit))
          .containsText(
              new String[] {
                "Created",
                "Registered",
                "Cancellation requested",
                "Cancelled",
                "Cancellation published"
              });
      assertThat(visit.button("Cancel now")).hasCount(0);
      assertThat(visit.page().locator(".explanation"))
          .containsText("Operator “operator” requested the cancellation at ");
      String eventId = scenario.outcomes().awaitCancelled("fraud").text("eventId");
      visit.page().context().grantPermissions(List.of("clipboard-read", "clipboard-write"));
      visit.button("Copy event ID").press("Enter");
      assertThat(visit.page().locator("#announcement")).hasText("Copied event ID.");
      assertThat(visit.page().evaluate("() => navigator.clipboard.readText()")).isEqualTo(eventId);

      visit.button("Copy record").press("Enter");
      assertThat(visit.page().locator("#announcement")).hasText("Copied record.");
      ConsumerRecord<?, ?> record = scenario.outcomes().awaitCancelled("fraud").record();
      assertThat(visit.page().evaluate("() => navigator.clipboard.readText()"))
          .isEqualTo("%s-%d@%d".formatted(record.topic(), record.partition(), record.offset()));
    }
  }

  @Test
  void showsTimesInTheChosenTimeZone() {
    Instant deadline = Instant.parse("2027-07-01T10:00:00.123Z");
    scenario.create("of-july", 0, deadline, Instant.now());
    scenario.awaitState("of-july", "PENDING");
    try (Visit visit = console.visit()) {
      visit.openAsOperator("order?id=of-july");
      Locator registered = timeline(visit).nth(1);
      assertThat(registered).containsText("1 Jul 2027, 12:00:00.123 CEST");
      visit.page().getByLabel("Time zone").selectOption("UTC");
      assertThat(registered).containsText("1 Jul 2027, 10:00:00.123 UTC");

      // The choice is kept, and times are entered in that zone, too.
      visit.page().reload();
      assertThat(registered).containsText("1 Jul 2027, 10:00:00.123 UTC");
      visit.button("Extend").click();
      assertThat(visit.dialog().getByLabel("New deadline")).hasValue("2027-07-01T10:15");
      visit.because("typed");

      // A dialog is bound to its order; the text is still there upon return.
      visit.go("orders");
      assertThat(visit.dialog()).hasCount(0);
      visit.go("order?id=of-july");
      visit.button("Extend").click();
      assertThat(visit.dialog().getByLabel("Reason")).hasValue("typed");
      visit.press("Cancel");
    }
  }

  @Test
  void closesAnOrder() {
    scenario.create("closed here", 0, Scenario.in(Duration.ofHours(1)));
    scenario.awaitState("closed here", "PENDING");
    try (Visit visit = console.visit()) {
      visit.openAsOperator("order?id=closed%20here");
      visit.button("Close").click();
      visit.because("paid in cash").confirm("Close order");
      assertThat(timeline(visit).last()).containsText("paid in cash");
      assertThat(scenario.database().state("closed here")).isEqualTo("CLOSED");
    }
  }

  @Test
  void releasesAParkedOrder() {
    scenario.create("parked", 0, Scenario.in(Duration.ofHours(1)));
    scenario.awaitState("parked", "PENDING");
    scenario
        .database()
        .execute("insert into parked_order (order_id, shard, reason) values ('parked', 0, 'x')");
    try (Visit visit = console.visit()) {
      visit.openAsOperator("pauses");
      visit.link("parked").click();
      assertThat(visit.page().locator(".waiting"))
          .containsText("waits for an operator to release it");
      visit.button("Release").click();
      visit.because("fixed").confirm("Release order");
      assertThat(timeline(visit))
          .containsText(new String[] {"Created", "Registered", "Parked", "Released"});
      assertThat(timeline(visit).nth(2)).containsText("reasonx");
      assertThat(visit.button("Release")).hasCount(0);
    }
  }

  @Test
  void explainsWhyAChangeIsRejected() {
    scenario.create("paid meanwhile", 0, Scenario.in(Duration.ofHours(1)));
    scenario.awaitState("paid meanwhile", "PENDING");
    try (Visit visit = console.visit().expecting(409, "/api/v1/order/close")) {
      visit.openAsOperator("order?id=paid%20meanwhile");
      visit.button("Close").click();
      scenario.pay("paid meanwhile", 0);
      scenario.awaitState("paid meanwhile", "PAID");
      visit.because("too late").press("Close order");
      assertThat(visit.dialogError()).containsText("a decision is never changed");
      visit.press("Cancel");
      assertThat(visit.dialog()).hasCount(0);
    }
  }

  @Test
  void appliesAChangeOnceWhenItIsRetriedAfterALostResponse() {
    scenario.create("answer lost", 0, Scenario.in(Duration.ofHours(1)));
    scenario.awaitState("answer lost", "PENDING");
    try (Visit visit = console.visit().expectingCuts()) {
      visit.openAsOperator("order?id=answer%20lost");
      List<String> keys = new ArrayList<>();
      visit
          .page()
          .route(
              "**/api/v1/order/extend",
              route -> {
                keys.add(route.request().headerValue("Idempotency-Key"));
                if (keys.size() == 1) {
                  // The service makes the change, but the browser gets no response.
                  route.fetch();
                  route.abort();
                } else {
                  route.resume();
                }
              });
      visit.button("Extend").click();
      visit.because("once").press("Extend deadline");
      assertThat(visit.dialogError()).containsText("It is unknown whether the change was made");
      visit.confirm("Extend deadline");

      assertThat(keys).hasSize(2).doesNotContainNull();
      assertThat(keys.get(0)).hasSizeGreaterThan(20).isEqualTo(keys.get(1));
      assertThat(
              scenario
                  .database()
                  .count("select count(*) from operator_action where reason = 'once'"))
          .isEqualTo(1);
    }
  }

  @Test
  void rendersDataFromOrdersAsTextOnly() {
    String orderId = "<img src=/console/x onerror=\"alert(1)\">/?#%2F&+ é漢\u202Egnp";
    scenario
        .shop()
        .created(orderId, Map.of("timeout", "PT1H", "channel", "<script>alert(2)</script>"));
    scenario.awaitState(orderId, "PENDING");
    try (Visit visit = console.visit()) {
      visit.page().onDialog(dialog -> dialog.dismiss());
      visit.openAsOperator("orders?prefix=" + encoded("<img"));
      assertThat(rows(visit)).containsText("<script>alert(2)</script>");
      rows(visit).getByRole(AriaRole.LINK).click();
      assertThat(visit.heading())
          .hasText("Order <img src=/console/x onerror=\"alert(1)\">/?#%2F&+ é漢\\u{202E}gnp");
      assertThat(visit.page().locator("main img, main script")).hasCount(0);
      visit.button("Close").click();
      visit.because("🧾 → \"'<i>").confirm("Close order");
      assertThat(timeline(visit).last()).containsText("🧾 → \"'<i>");
      assertThat(scenario.database().state(orderId)).isEqualTo("CLOSED");
    }
  }

  @Test
  void reportsAnUnknownOrder() {
    try (Visit visit = console.visit().expecting(404, "/api/v1/order")) {
      visit.openAsViewer("order?id=nobody%27s");
      assertThat(visit.page().locator("main")).containsText("No order has this ID");
    }
  }

  private static Locator rows(Visit visit) {
    return visit.page().locator("main tbody tr");
  }

  private static Locator timeline(Visit visit) {
    return visit.page().locator(".timeline > li");
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
