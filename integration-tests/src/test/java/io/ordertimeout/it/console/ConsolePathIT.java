package io.ordertimeout.it.console;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.ordertimeout.it.support.ConsoleSession;
import io.ordertimeout.it.support.Documents;
import io.ordertimeout.it.support.Nginx;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.StrippingProxy;
import io.ordertimeout.it.support.TokenIssuer;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The console below a path of its host: with a context path, and behind a proxy that strips it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("chromium")
class ConsolePathIT {

  private static final String PATH = "/shop/orders";
  private static final String[] TRUSTING = {
    "server.forward-headers-strategy", "native",
    "server.tomcat.remoteip.internal-proxies", "127.0.0.1"
  };

  private final Console console = Console.open(TRUSTING);
  private final Scenario scenario = console.scenario();

  @AfterAll
  void close() {
    console.close();
  }

  @Test
  void worksWithAContextPath() {
    try (Service service = scenario.startService("server.servlet.context-path", PATH);
        Visit visit = visit(service.http().base().resolve(PATH))) {
      assertUsable(visit, "with-a-context-path", PATH);

      // The server redirects to the path with a slash.
      visit.page().navigate(service.http().base().resolve(PATH).toString());
      assertThat(visit.heading()).hasText("Log in");
    }
  }

  @Test
  void worksBehindAProxyThatStripsAPrefix() {
    try (StrippingProxy proxy = StrippingProxy.announcing(PATH, console.service().http());
        Visit visit = visit(proxy.uri())) {
      assertUsable(visit, "with-a-stripped-prefix", PATH);
    }
  }

  @Test
  @Tag("nginx")
  void worksBehindNginxWithTheConfigurationOfTheDocument() {
    try (Nginx nginx =
            Nginx.start(Documents.code("sub-path.md", "nginx"), console.service().http());
        Visit visit = visit(nginx.uri(PATH))) {
      assertUsable(visit, "behind-nginx", PATH);
      visit.page().navigate(nginx.uri(PATH + "?a=b#/pauses").toString());
      assertThat(visit.page()).hasURL(nginx.uri(PATH) + "/?a=b#/pauses");
    }
  }

  @Test
  void worksBehindAProxyThatDoesNotTellThePrefix() {
    try (StrippingProxy proxy = StrippingProxy.silent(PATH, console.service().http());
        Visit visit = visit(proxy.uri())) {
      assertUsable(visit, "with-an-unknown-prefix", "");
    }
  }

  @Test
  void addsTheSlashWithoutWhichRelativeAddressesLeaveThePrefix() {
    try (StrippingProxy proxy = StrippingProxy.silent(PATH, console.service().http());
        Visit visit = visit(proxy.uri()).expecting(404, "/")) {
      visit.page().navigate(proxy.uri() + "?a=b#/pauses");
      assertThat(visit.heading()).hasText("Log in");
      assertThat(visit.page()).hasURL(proxy.uri() + "/?a=b#/pauses");
    }
  }

  @Test
  void logsInThroughAnIdentityProviderBelowAPrefixAndAContextPath() {
    List<String> settings = new ArrayList<>(List.of(TRUSTING));
    settings.addAll(List.of("server.servlet.context-path", "/orders"));
    try (TokenIssuer provider = TokenIssuer.start()) {
      settings.addAll(List.of(provider.logInSettings()));
      try (Service service = scenario.startService(settings.toArray(String[]::new));
          StrippingProxy proxy = StrippingProxy.announcing("/shop", service.http());
          // The browser must see a different site than the provider's.
          Visit visit =
              visit(URI.create(proxy.uri("localhost") + "/orders"))
                  .expectingRequestsTo(provider.uri())) {
        visit.open("audit");
        visit.link("Log in with the shop").click();
        assertThat(visit.page().locator("main"))
            .containsText("The identity provider rejected your log-in");

        provider.logIn("order-timeout-viewer");
        visit.link("Log in with the shop").click();
        visit.awaitLive();
        assertThat(visit.heading()).hasText("Audit log");
        assertCookiesBelow(PATH, visit);
      }
    }
  }

  private Visit visit(URI address) {
    return console.chromium().visit(address, Look.DESKTOP_LIGHT);
  }

  /** Logs in, reads, changes, reads live data and logs out. */
  private void assertUsable(Visit visit, String orderId, String cookiePath) {
    scenario.shop().created(orderId, Map.of("timeout", "PT1H"));
    scenario.awaitState(orderId, "PENDING");
    visit.openAsOperator("overview");
    assertThat(visit.page().locator(".plot").first()).isVisible();
    assertCookiesBelow(cookiePath, visit);

    visit.go("orders");
    visit.link(orderId).click();
    assertThat(visit.heading()).hasText("Order " + orderId);
    visit.button("Close").click();
    visit.because("paid in cash").confirm("Close order");
    scenario.awaitState(orderId, "CLOSED");

    visit.page().reload();
    visit.awaitLive();
    visit.button("Log out").click();
    assertThat(visit.heading()).hasText("Log in");
    visit.page().reload();
    assertThat(visit.heading()).hasText("Log in");
  }

  /** Other applications of the same host have cookies of the same names. */
  private static void assertCookiesBelow(String path, Visit visit) {
    assertThat(visit.page().context().cookies())
        .extracting(cookie -> cookie.name, cookie -> cookie.path.replaceAll("/$", ""))
        .containsExactlyInAnyOrder(tuple(ConsoleSession.COOKIE, path), tuple("XSRF-TOKEN", path));
  }
}
