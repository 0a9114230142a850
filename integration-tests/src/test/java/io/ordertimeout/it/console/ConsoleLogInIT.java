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

/** Who somebody is, is asked for once, and kept no longer than it has to be. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("chromium")
class ConsoleLogInIT {

  private final Console console = Console.open();

  @AfterAll
  void close() {
    console.close();
  }

  @Test
  void aWrongPasswordIsRefusedAndTheRightOneOpensTheConsole() {
    try (Visit visit = console.visit().expecting(401, "/api/session")) {
      visit.come("overview").logIn("operator", "wrong");
      assertThat(visit.page().getByRole(AriaRole.ALERT)).containsText("another password");
      assertThat(visit.page().locator("nav")).isHidden();

      visit.logIn("operator", Http.OPERATOR_PASSWORD).awaitLive();
      assertThat(visit.figure("pending")).hasText("0");
      assertThat(visit.page().locator("#who")).containsText("operator");
    }
  }

  @Test
  void whatSomebodyCameForIsShownOnceTheyAreLoggedIn() {
    try (Visit visit = console.visit()) {
      visit.comeAsOperator("audit");
      assertThat(visit.heading()).hasText("Audit");
      assertThat(visit.page()).hasTitle("Audit · Order timeout");
    }
  }

  @Test
  void aSessionOutlivesAReloadAndEndsWithTheLogOut() {
    try (Visit visit = console.visit()) {
      visit.comeAsOperator("shards");
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
  void aSessionThatTheServiceHasForgottenLeadsBackToTheLogIn() {
    try (Visit visit = console.visit().expecting(401, "/api/")) {
      visit.comeAsOperator("pauses");
      visit.page().context().clearCookies();
      visit.link("Audit").click();
      assertThat(visit.heading()).hasText("Log in");
      assertThat(visit.page().locator("main")).containsText("You are logged out");

      visit.logIn("viewer", Http.VIEWER_PASSWORD).awaitLive();
      assertThat(visit.heading()).hasText("Audit");
    }
  }

  @Test
  void whoeverFailsTooOftenIsToldHowLongToWait() {
    try (Service strict =
            console.scenario().startService("order-timeout.access.max-failures", "1");
        Visit visit =
            console
                .chromium()
                .visit(strict.http().base(), Look.DESKTOP_LIGHT)
                .expecting(401, "/api/session")
                .expecting(429, "/api/session")) {
      visit.come("overview").logIn("operator", "wrong");
      assertThat(visit.page().locator("main")).containsText("another password");
      visit.logIn("operator", Http.OPERATOR_PASSWORD);
      assertThat(visit.page().locator("main")).containsText("Try again in 5 min");
    }
  }

  @Test
  void aTokenIsKeptInMemoryAlone() {
    try (TokenIssuer issuer = TokenIssuer.start();
        Service service = console.scenario().startService(issuer.settings());
        Visit visit =
            console
                .chromium()
                .visit(service.http().base(), Look.DESKTOP_LIGHT)
                .expecting(401, "/api/session")
                .expecting(403, "/api/forecast")) {
      visit.come("pauses");
      tryToken(visit, issuer.forgedToken("order-timeout-operator"));
      assertThat(visit.page().locator("main")).containsText("a token that is not valid");
      tryToken(visit, issuer.token("somebody-else"));
      assertThat(visit.page().locator("main")).containsText("has no role");

      String token = issuer.token("order-timeout-operator");
      tryToken(visit, token);
      visit.awaitLive();
      assertThat(visit.page().locator("#who")).containsText("jane");
      visit.button("Pause expiry").click();
      visit.dialog().getByLabel("They stay").check();
      visit.because("a try").confirm("Pause");
      assertThat(visit.page().locator("main")).containsText("By jane");

      assertThat(visit.page().evaluate(STORED)).asString().doesNotContain(token);
      visit.page().reload();
      assertThat(visit.heading()).hasText("Log in");
    }
  }

  @Test
  void aProviderLogsInWhoIsKnownThere() {
    try (TokenIssuer provider = TokenIssuer.start();
        Service service = console.scenario().startService(provider.logInSettings());
        Visit visit =
            console
                .chromium()
                // For a browser another site than that of the provider.
                .visit(
                    URI.create("http://localhost:" + service.http().base().getPort()),
                    Look.DESKTOP_LIGHT)
                .expectingToLeaveFor(provider.uri())) {
      visit.come("pauses");
      visit.link("Log in with the shop").click();
      assertThat(visit.page().locator("main")).containsText("Your log-in was refused");

      provider.logIn("somebody-else");
      visit.link("Log in with the shop").click();
      assertThat(visit.page().locator("main"))
          .containsText("You are logged in as jane, who has no role");

      provider.logIn("order-timeout-operator");
      visit.link("Log in with the shop").click();
      visit.awaitLive();
      assertThat(visit.heading()).hasText("Pauses, holds and parked orders");
      visit.button("Pause expiry").click();
      visit.dialog().getByLabel("They stay").check();
      visit.because("a try").confirm("Pause");
      assertThat(visit.page().locator("main")).containsText("By jane");

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
