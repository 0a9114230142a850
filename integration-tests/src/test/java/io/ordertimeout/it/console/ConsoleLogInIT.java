package io.ordertimeout.it.console;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.TokenIssuer;
import java.net.URI;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Logging in with a password, a token or an identity provider, and the end of a session. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("chromium")
class ConsoleLogInIT {

  private final Console console = Console.open();

  @AfterAll
  void close() {
    console.close();
  }

  @Test
  void rejectsAWrongPasswordAndAcceptsTheRightOne() {
    try (Visit visit = console.visit().expecting(401, "/api/v1/session")) {
      visit.open("overview").logIn("operator", "wrong");
      assertThat(visit.page().getByRole(AriaRole.ALERT))
          .containsText("Wrong user name or password");
      assertThat(visit.page().locator("nav")).isHidden();

      visit.logIn("operator", Http.OPERATOR_PASSWORD).awaitLive();
      assertThat(visit.figure("pending")).hasText("0");
      assertThat(visit.page().locator("#user")).containsText("operator");
    }
  }

  @Test
  void showsTheRequestedViewAfterLogIn() {
    try (Visit visit = console.visit()) {
      visit.openAsOperator("audit");
      assertThat(visit.heading()).hasText("Audit log");
      assertThat(visit.page()).hasTitle("Audit log · Order timeout");
    }
  }

  @Test
  void keepsTheSessionOnReloadAndEndsItOnLogOut() {
    try (Visit visit = console.visit()) {
      visit.openAsOperator("shards");
      visit.page().reload();
      visit.awaitLive();
      assertThat(visit.heading()).hasText("Shards and instances");

      visit.button("Log out").click();
      assertThat(visit.heading()).hasText("Log in");
      visit.page().reload();
      assertThat(visit.heading()).hasText("Log in");
    }
  }

  @Test
  void returnsToTheLogInWhenTheSessionIsLost() {
    try (Visit visit = console.visit().expecting(401, "/api/v1/")) {
      visit.openAsOperator("pauses");
      visit.page().context().clearCookies();
      visit.link("Audit log").click();
      assertThat(visit.heading()).hasText("Log in");
      assertThat(visit.page().locator("main")).containsText("You have been logged out");

      visit.logIn("viewer", Http.VIEWER_PASSWORD).awaitLive();
      assertThat(visit.heading()).hasText("Audit log");
    }
  }

  @Test
  void keepsWhatWasEnteredInADialogWhenTheSessionIsLost() {
    try (Visit visit = console.visit().expecting(401, "/api/v1/")) {
      visit.openAsOperator("pauses");
      visit.button("Pause expiry").click();
      visit.dialog().getByLabel("Keep deadlines").check();
      visit.because("half a page of reasons");
      visit.page().context().clearCookies();
      visit.press("Pause expiry");
      assertThat(visit.heading()).hasText("Log in");

      visit.logIn("operator", Http.OPERATOR_PASSWORD).awaitLive();
      visit.button("Pause expiry").click();
      assertThat(visit.dialog().getByLabel("Reason")).hasValue("half a page of reasons");
      assertThat(visit.dialog().getByLabel("Keep deadlines")).isChecked();
      visit.press("Cancel");
      visit.button("Pause expiry").click();
      assertThat(visit.dialog().getByLabel("Reason")).hasValue("The cause is being examined");
    }
  }

  @Test
  void showsHowLongToWaitAfterTooManyFailures() {
    try (Service strict =
            console.scenario().startService("order-timeout.access.max-failures", "1");
        Visit visit =
            console
                .chromium()
                .visit(strict.http().base(), Look.DESKTOP_LIGHT)
                .expecting(401, "/api/v1/session")
                .expecting(429, "/api/v1/session")) {
      visit.open("overview").logIn("operator", "wrong");
      assertThat(visit.page().locator("main")).containsText("Wrong user name or password");
      visit.logIn("operator", Http.OPERATOR_PASSWORD);
      assertThat(visit.page().locator("main")).containsText("Try again in 5 min");
    }
  }

  @Test
  void keepsATokenInMemoryOnly() {
    try (TokenIssuer issuer = TokenIssuer.start();
        Service service = console.scenario().startService(issuer.settings());
        Visit visit =
            console
                .chromium()
                .visit(service.http().base(), Look.DESKTOP_LIGHT)
                .expecting(401, "/api/v1/session")
                .expecting(403, "/api/v1/forecast")) {
      visit.open("pauses");
      tryToken(visit, issuer.forgedToken("order-timeout-operator"));
      assertThat(visit.page().locator("main")).containsText("invalid token");
      tryToken(visit, issuer.token("somebody-else"));
      assertThat(visit.page().locator("main")).containsText("has no role");

      String token = issuer.token("order-timeout-operator");
      tryToken(visit, token);
      visit.awaitLive();
      assertThat(visit.page().locator("#user")).containsText("jane");
      visit.button("Pause expiry").click();
      visit.dialog().getByLabel("Keep deadlines").check();
      visit.because("a try").confirm("Pause expiry");
      assertThat(visit.page().locator("main")).containsText("Placed by jane");

      assertThat(visit.page().evaluate(STORED)).asString().doesNotContain(token);
      visit.page().reload();
      assertThat(visit.heading()).hasText("Log in");
    }
  }

  @Test
  void logsInThroughAnIdentityProvider() {
    try (TokenIssuer provider = TokenIssuer.start();
        Service service = console.scenario().startService(provider.logInSettings());
        Visit visit =
            console
                .chromium()
                // The browser must see a different site than the provider's.
                .visit(
                    URI.create("http://localhost:" + service.http().base().getPort()),
                    Look.DESKTOP_LIGHT)
                .expectingRequestsTo(provider.uri())) {
      visit.open("pauses");
      visit.link("Log in with the shop").click();
      assertThat(visit.page().locator("main"))
          .containsText("The identity provider rejected your log-in");

      provider.logIn("somebody-else");
      visit.link("Log in with the shop").click();
      assertThat(visit.page().locator("main"))
          .containsText("You are logged in as jane. This account has no role");

      provider.logIn("order-timeout-operator");
      visit.link("Log in with the shop").click();
      visit.awaitLive();
      assertThat(visit.heading()).hasText("Pauses, holds and parked orders");
      visit.button("Pause expiry").click();
      visit.dialog().getByLabel("Keep deadlines").check();
      visit.because("a try").confirm("Pause expiry");
      assertThat(visit.page().locator("main")).containsText("Placed by jane");

      visit.button("Log out").click();
      assertThat(visit.heading()).hasText("Log in");
      visit.page().reload();
      assertThat(visit.heading()).hasText("Log in");
    }
  }

  private static final String STORED =
      "() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie,"
          + " location.href])";

  private static void tryToken(Visit visit, String token) {
    Page page = visit.page();
    page.getByLabel("Token").fill(token);
    visit.button("Log in").click();
  }
}
