package io.ordertimeout.it.console;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.deque.html.axecore.playwright.AxeBuilder;
import com.deque.html.axecore.results.Rule;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.SuspensionRows;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Accessibility and layout of every view, on desktops and phones, in the light and dark theme; and
 * read-only access for viewers. Screenshots are written to {@code target/screenshots}.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("chromium")
@Order(20)
class ConsoleLookIT {

  private static final Path SCREENSHOTS = Path.of("target", "screenshots");
  private static final String LONG_ID =
      "an-id-as-long-as-it-may-be-".repeat(4) + "without-a-space-1234";

  /** Pairs of controls whose boxes overlap. */
  private static final String OVERLAPS =
      """
      () => {
        const controls = [...document.querySelectorAll('input, button, select, .page-header a, .search a')]
          .filter((control) => control.offsetWidth > 0 && !control.matches('.visually-hidden *'));
        const boxes = controls.map((control) => [control, control.getBoundingClientRect()]);
        return boxes.flatMap(([one, a], i) => boxes.slice(i + 1)
          .filter(([other, b]) => !one.contains(other) && !other.contains(one)
            && a.left < b.right - 1 && b.left < a.right - 1
            && a.top < b.bottom - 1 && b.top < a.bottom - 1)
          .map(([other]) => one.outerHTML + ' over ' + other.outerHTML));
      }
      """;

  private static final String HIDDEN_COLUMNS =
      """
      () => [...document.querySelectorAll('.scroll')]
        .filter((box) => box.scrollWidth > box.clientWidth)
        .map((box) => box.getAttribute('aria-label'))
      """;

  private static final Map<String, String> VIEWS =
      Map.of(
          "overview",
          ".plot canvas",
          "orders",
          "main tbody tr",
          "order?id=" + LONG_ID,
          ".timeline",
          "order?id=parked",
          ".waiting",
          "pauses",
          "main tbody tr",
          "shards",
          "main tbody tr",
          "policies",
          "main tbody tr",
          "conflicts",
          "main tbody tr",
          "dead-letters",
          "section[aria-label='Dead letters'] tbody tr",
          "audit",
          "main tbody tr");

  private final Console console =
      Console.open(
          "order-timeout.deadline.policies[0].name", "transfer of a small amount",
          "order-timeout.deadline.policies[0].payment-method", "transfer",
          "order-timeout.deadline.policies[0].amount.up-to", "5000",
          "order-timeout.deadline.policies[0].amount.currency", "EUR",
          "order-timeout.deadline.policies[0].business-days", "3",
          "order-timeout.deadline.policies[0].until", "23:59",
          "order-timeout.deadline.policies[0].zone", "America/Argentina/Buenos_Aires",
          "order-timeout.deadline.policies[0].grace", "1d",
          "order-timeout.deadline.policies[1].name", "invoice",
          "order-timeout.deadline.policies[1].payment-method", "invoice",
          "order-timeout.deadline.policies[1].exempt", "true");
  private final Scenario scenario = console.scenario();

  @BeforeAll
  void fill() {
    List<String> currencies = List.of("EUR", "USD", "POINTS");
    for (int i = 0; i < 240; i++) {
      scenario
          .shop()
          .created(
              i == 0 ? LONG_ID : "order-" + i,
              Map.of(
                  "timeout",
                  "PT" + (2 + i * i % 57) + "M",
                  "channel",
                  i % 3 == 0 ? "store" : "web",
                  "paymentMethod",
                  "card",
                  "amount",
                  Map.of("value", 10 + i * 17 % 400 + 0.5, "currency", currencies.get(i * i % 3))));
    }
    scenario
        .database()
        .execute(
            """
            insert into order_deadline (
              order_id, shard, state, created_at, deadline, decided_at, decided_by, paid_at, amount,
              currency)
            select 'yesterday-' || i, 0, 'PAID', t, t + interval '15 min',
              t + make_interval(mins => i % 14), 'PAYMENT', t + make_interval(mins => i % 14), i, 'EUR'
            from generate_series(1, 100) i
            cross join lateral (select now() - interval '1 d' - i * interval '1 min' as t) o
            """);
    scenario
        .database()
        .execute(
            """
            with late as (
              insert into order_deadline (
                order_id, shard, state, created_at, deadline, policy, channel, decided_at, decided_by,
                amount, currency)
              select 'late-' || i, 0, 'CANCELLED', t - interval '15 min', t, 'DEFAULT', 'web',
                t + make_interval(secs => i * i * i), 'EXPIRY', i, 'EUR'
              from generate_series(1, 25) i
              cross join lateral (select now() - interval '1 d' - i * interval '1 min' as t) o
              returning id, deadline, decided_at
            )
            insert into outbox (order_row, shard, written_at, published_at, due_at)
            select id, 0, decided_at, decided_at, deadline from late
            """);
    scenario.shop().created("parked", Map.of("timeout", "PT2H"));
    scenario.awaitState("parked", "PENDING");
    send(scenario.topics().paid(), "parked", "{\"order\":\"parked\"}");
    send(scenario.topics().created(), "no order", "not <b>JSON</b> at all");
    // An hour of activity as another instance would have recorded it.
    scenario
        .database()
        .execute(
            """
            insert into activity (
              minute, instance, registered, paid, closed, cancelled, conflicts, lateness)
            select
              date_trunc('minute', clock_timestamp()) - make_interval(mins => i), 'another',
              600 + 200 * sin(i / 9.0), 480 + 150 * sin(i / 9.0 + 0.4), 9, 60 + 40 * sin(i / 5.0),
              i % 3, array[0, 20, 30, 8, 2 + i % 5, i % 7 / 6, 0, 0, 0, 0, 0, 0, 0, 0, (i = 30)::int]
            from generate_series(1, 58) as i
            """);
    scenario.awaitState(LONG_ID, "PENDING");
    scenario
        .database()
        .execute(
            """
            insert into outbox (order_row, payment_id, shard, paid_at, published_at)
            select id, 'payment of ' || order_id, shard, now(), nullif(now(), case when shard = 0 then now() end)
            from order_deadline limit 20
            """);
    SuspensionRows.hold(scenario.database(), 2, "order-paid-2 begins at 7, read up to 3");
    Http operator = console.service().http().operator();
    operator.post(
        "/api/v1/pauses",
        Map.of(
            "channel",
            "store",
            "moveDeadlines",
            true,
            "endsAt",
            Scenario.in(Duration.ofHours(3)).toString(),
            "reason",
            "The card terminals of the stores cannot be reached"));
    operator.post(
        "/api/v1/order/extend",
        Map.of(
            "orderId",
            LONG_ID,
            "deadline",
            Scenario.in(Duration.ofHours(5)).toString(),
            "reason",
            "The customer asked for more time"));
    await("the data on display")
        .atMost(Duration.ofSeconds(60))
        .until(
            () ->
                operator.get("/api/v1/overview").json().path("parked").asInt() == 1
                    && !operator.get("/api/v1/forecast").json().at("/within/3/amounts").isEmpty());
  }

  private void send(String topic, String key, String value) {
    Shop.await(scenario.shop().send(new ProducerRecord<>(topic, Shop.utf8(key), Shop.utf8(value))));
  }

  @AfterAll
  void close() {
    console.close();
  }

  @ParameterizedTest
  @EnumSource
  void everyViewIsAccessibleAndFitsTheWindow(Look look) {
    try (Visit visit = console.visit(look)) {
      visit.open("overview");
      assertThat(visit.heading()).hasText("Log in");
      check(visit, "log-in", look);
      visit.logIn("operator", Http.OPERATOR_PASSWORD).awaitLive();
      VIEWS.forEach(
          (view, sign) -> {
            visit.go(view);
            assertThat(visit.page().locator(sign).first()).isVisible();
            assertThat(visit.page().locator("[aria-busy]")).hasCount(0);
            check(visit, name(view), look);
          });
      visit.go("orders?state=CANCELLED&sort=-lateness");
      assertThat(visit.page().locator("main tbody tr").first()).containsText("4 h 20 min");
      check(visit, "orders-late", look);
      visit.go("policies");
      Locator preview = visit.page().locator("section[aria-labelledby='preview']");
      preview.getByLabel("Payment method").fill("transfer");
      preview.getByLabel("Amount").fill("12.50");
      preview.getByLabel("Currency").fill("EUR");
      visit.button("Preview").click();
      assertThat(preview.locator("dl")).containsText("Not cancelled before");
      check(visit, "policies-preview", look);
      Locator whatIf = visit.page().locator("section[aria-labelledby='what-if']");
      whatIf.getByLabel("Time to pay, in minutes").fill("10");
      visit.button("Estimate").click();
      assertThat(whatIf.locator("dl")).containsText("Paid, and would be cancelled");
      assertThat(whatIf.locator("tbody tr")).hasCount(15);
      check(visit, "policies-what-if", look);
      visit.go("dead-letters");
      visit.page().locator("section[aria-label='Dead letters'] tbody a").first().click();
      assertThat(visit.page().locator("pre")).isVisible();
      check(visit, "dead-letter", look);
      visit.go("orders");
      visit.page().getByLabel("Select all").check();
      assertThat(visit.button("Extend")).isVisible();
      check(visit, "orders-selected", look);
      visit.go("pauses");
      visit.button("Pause expiry").click();
      assertThat(visit.dialog()).isVisible();
      check(visit, "dialog", look);
    }
  }

  @Test
  void thePageOfAPhoneIsNotCoveredByItsHeader() {
    try (Visit visit = console.visit(Look.PHONE_DARK)) {
      visit.openAsOperator("conflicts");
      Page page = visit.page();
      Locator header = page.locator("header");
      assertThat(header.boundingBox().height).isLessThan(150);
      assertThat(page.locator("main tbody tr").first()).isVisible();
      assertThat(page.locator("main tbody tr").first().boundingBox().height).isLessThan(150);
      page.evaluate("() => scrollTo(0, document.body.scrollHeight)");
      assertThat(header).isInViewport();
      assertThat(visit.button("Pause expiry")).isInViewport();

      assertThat(visit.link("Shards")).isHidden();
      visit.button("Menu").click();
      assertThat(visit.button("Log out")).isVisible();
      page.keyboard().press("Escape");
      assertThat(visit.button("Log out")).isHidden();
      visit.button("Menu").click();
      visit.link("Orders").click();
      assertThat(visit.heading()).hasText("Orders");
      assertThat(visit.link("Shards")).isHidden();
      assertThat(page.getByLabel("Cancelled late by at least")).isHidden();
      page.getByText("Channel, amount, lateness and deadline").click();
      assertThat(page.getByLabel("Cancelled late by at least")).isVisible();
      page.getByLabel("From", new Page.GetByLabelOptions().setExact(true)).fill("10");
      page.getByText("Channel, amount, lateness and deadline").click();
      visit.button("Search").click();
      // An amount needs a currency.
      assertThat(page.getByLabel("Currency")).isVisible();

      page.setViewportSize(640, 400);
      page.evaluate("() => scrollTo(0, document.body.scrollHeight)");
      assertThat(header).not().isInViewport();
    }
  }

  @Test
  void theLatenessAxisHasEveryDecade() {
    try (Visit visit = console.visit()) {
      visit.openAsViewer("overview");
      assertThat(visit.page().locator("canvas")).hasCount(5);
      assertThat(
              visit
                  .page()
                  .evaluate(
                      """
                      () => Object.values(Chart.instances)
                        .map((chart) => chart.scales.y)
                        .filter(({ type }) => type === 'logarithmic')
                        .map(({ ticks }) => ticks.map(({ label }) => label).join())
                        .join()
                      """))
          .isEqualTo("1 ms,10 ms,100 ms,1 s,10 s,100 s,1,000 s");
    }
  }

  @Test
  void noControlsOverlapAtAnyWidth() {
    try (Visit visit = console.visit()) {
      visit.openAsOperator("orders");
      for (String view : List.of("pauses", "audit", "dead-letters", "orders")) {
        visit.go(view);
        assertThat(visit.page().locator(VIEWS.get(view)).first()).isVisible();
        for (int width : new int[] {320, 480, 641, 800, 1024, 1101, 1280, 1366, 1536, 1920, 2560}) {
          visit.page().setViewportSize(width, 800);
          assertThat(visit.page().evaluate(OVERLAPS))
              .as("%s at %d", view, width)
              .isEqualTo(List.of());
        }
      }
      visit
          .page()
          .evaluate("() => { document.querySelector('.find button').style.marginLeft = '-60px'; }");
      assertThat((List<?>) visit.page().evaluate(OVERLAPS)).isNotEmpty();
    }
  }

  private static String name(String view) {
    return view.equals("order?id=parked") ? "order-parked" : view.replaceAll("\\?.*", "");
  }

  private static void check(Visit visit, String name, Look look) {
    Page page = visit.page();
    // A picture of the whole page has the header where the window begins.
    page.evaluate("() => scrollTo(0, 0)");
    page.screenshot(
        new Page.ScreenshotOptions()
            .setPath(SCREENSHOTS.resolve(name + "-" + look + ".png"))
            .setFullPage(!name.equals("dialog")));
    // Without frames, the result needs no page of its own for each check.
    assertThat(new AxeBuilder(page).setLegacyMode(true).analyze().getViolations())
        .as("%s, %s", name, look)
        .extracting(ConsoleLookIT::describe)
        .isEmpty();
    assertThat(
            page.evaluate(
                "() => document.documentElement.scrollWidth"
                    + " - document.documentElement.clientWidth"))
        .as("horizontal overflow of %s, %s", name, look)
        .isEqualTo(0);
    assertThat(page.evaluate(HIDDEN_COLUMNS))
        .as("tables of %s, %s whose last column is out of sight", name, look)
        .isEqualTo(List.of());
  }

  private static String describe(Rule rule) {
    return rule.getId()
        + ": "
        + rule.getHelp()
        + rule.getNodes().stream().map(node -> "\n  " + node.getHtml()).toList();
  }

  @Test
  void viewersSeeEveryViewWithoutControlsForChanges() {
    try (Visit visit = console.visit()) {
      visit.openAsViewer("overview");
      VIEWS.forEach(
          (view, sign) -> {
            visit.go(view);
            assertThat(visit.page().locator(sign).first()).isVisible();
            assertThat(visit.page().locator("[aria-busy]")).hasCount(0);
            assertReadOnly(visit);
          });
      visit.go("dead-letters");
      visit.page().locator("section[aria-label='Dead letters'] tbody a").first().click();
      assertThat(visit.page().locator("pre")).isVisible();
      assertReadOnly(visit);
    }
  }

  private static void assertReadOnly(Visit visit) {
    List<String> buttons =
        visit.page().locator("button").all().stream().map(Locator::textContent).toList();
    assertThat(
            List.of(
                "Menu",
                "Log out",
                "Find",
                "Search",
                "Filter",
                "Preview",
                "Estimate",
                "Show more",
                "Copy",
                "Export CSV"))
        .containsAll(buttons);
  }
}
