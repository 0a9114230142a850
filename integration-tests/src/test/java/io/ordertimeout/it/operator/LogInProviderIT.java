package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.TokenIssuer;
import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Where a provider is configured, people log in there, and have the roles that it tells of. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LogInProviderIT {

  private final Scenario scenario = Scenario.create();

  @AfterAll
  void close() {
    scenario.close();
  }

  @Test
  void whoIsLoggedInMayDoWhatTheirRolesSay() throws Exception {
    try (TokenIssuer provider = TokenIssuer.start();
        Service service = scenario.startService(provider.logInSettings())) {
      URI base = service.http().base();
      JsonNode session = service.http().get("/api/session").json();
      assertThat(session.path("passwords").asBoolean()).isFalse();
      assertThat(session.at("/providers/0/name").asString()).isEqualTo("the shop");
      URI logIn = base.resolve(session.at("/providers/0/path").asString());
      assertThat(service.http().operator().get("/api/overview").status()).isEqualTo(401);

      provider.logIn("order-timeout-viewer");
      HttpClient viewer = browser();
      assertThat(get(viewer, logIn).uri()).isEqualTo(base.resolve("/"));
      JsonNode jane =
          JsonMapper.shared().readTree(get(viewer, base.resolve("/api/session")).body());
      assertThat(jane.path("name").asString()).isEqualTo("jane");
      assertThat(jane.path("viewer").asBoolean()).isTrue();
      assertThat(jane.path("operator").asBoolean()).isFalse();
      assertThat(get(viewer, base.resolve("/api/overview")).statusCode()).isEqualTo(200);

      provider.logIn("somebody-else");
      HttpClient another = browser();
      get(another, logIn);
      assertThat(get(another, base.resolve("/api/overview")).statusCode()).isEqualTo(403);
    }
  }

  @Test
  void whoeverIsRefusedByTheProviderIsNotLoggedIn() throws Exception {
    try (TokenIssuer provider = TokenIssuer.start();
        Service service = scenario.startService(provider.logInSettings())) {
      URI base = service.http().base();
      HttpClient refused = browser();

      HttpResponse<String> back = get(refused, base.resolve("/oauth2/authorization/shop"));

      assertThat(back.uri()).isEqualTo(base.resolve("/?refused"));
      assertThat(get(refused, base.resolve("/api/overview")).statusCode()).isEqualTo(401);
    }
  }

  @Test
  void aProviderThatIsAwayHoldsUpNothingButItsLogIns() throws Exception {
    TokenIssuer provider = TokenIssuer.start();
    provider.close();
    try (Service service = scenario.startService(provider.logInSettings())) {
      service.awaitReady(true);
      URI base = service.http().base();
      assertThat(service.http().get("/api/session").status()).isEqualTo(200);
      assertThat(get(browser(), base.resolve("/oauth2/authorization/shop")).statusCode())
          .isEqualTo(500);
    }
  }

  private static HttpClient browser() {
    return HttpClient.newBuilder()
        .cookieHandler(new CookieManager())
        .followRedirects(HttpClient.Redirect.ALWAYS)
        .build();
  }

  private static HttpResponse<String> get(HttpClient browser, URI uri)
      throws IOException, InterruptedException {
    return browser.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
  }
}
