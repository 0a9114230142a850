package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.ConsoleSession;
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

/** Logging in by an OpenID Connect provider, which determines people's roles. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LogInProviderIT {

  private final Scenario scenario = Scenario.create();
  private final TokenIssuer provider = TokenIssuer.start();
  private final Service service = scenario.startService(provider.logInSettings());
  private final URI base = service.http().base();

  @AfterAll
  void close() {
    service.close();
    provider.close();
    scenario.close();
  }

  @Test
  void theRolesOfTheProviderDeterminePermissions() throws Exception {
    JsonNode session = service.http().get("/api/v1/session").json();
    assertThat(session.path("passwords").asBoolean()).isFalse();
    assertThat(session.at("/providers/0/name").asString()).isEqualTo("the shop");
    URI logIn = base.resolve(session.at("/providers/0/path").asString());
    assertThat(service.http().operator().get("/api/v1/overview").status()).isEqualTo(401);

    provider.logIn("order-timeout-viewer");
    HttpClient viewer = browser();
    assertThat(get(viewer, logIn).uri()).isEqualTo(base.resolve("/"));
    JsonNode jane =
        JsonMapper.shared().readTree(get(viewer, base.resolve("/api/v1/session")).body());
    assertThat(jane.path("name").asString()).isEqualTo("jane");
    assertThat(jane.path("viewer").asBoolean()).isTrue();
    assertThat(jane.path("operator").asBoolean()).isFalse();
    assertThat(get(viewer, base.resolve("/api/v1/overview")).statusCode()).isEqualTo(200);

    provider.logIn("unrelated-role");
    HttpClient another = browser();
    get(another, logIn);
    assertThat(get(another, base.resolve("/api/v1/overview")).statusCode()).isEqualTo(403);
  }

  @Test
  void aRefusalByTheProviderLogsNobodyIn() throws Exception {
    provider.refuseLogIns();
    long sessions = sessions();
    HttpClient refused = browser();

    HttpResponse<String> back = get(refused, base.resolve("/oauth2/authorization/shop"));

    assertThat(back.uri()).isEqualTo(base.resolve("/?refused"));
    assertThat(sessions()).isEqualTo(sessions);
    assertThat(get(refused, base.resolve("/api/v1/overview")).statusCode()).isEqualTo(401);
  }

  private long sessions() {
    return scenario.database().count("select count(*) from console_session");
  }

  @Test
  void anyInstanceCompletesALogIn() throws Exception {
    provider.logIn("order-timeout-viewer");
    try (Service other = scenario.startService(provider.logInSettings())) {
      HttpClient browser = browser(HttpClient.Redirect.NEVER);
      String atProvider = location(get(browser, base.resolve("/oauth2/authorization/shop")));
      URI back = URI.create(location(get(browser, URI.create(atProvider))));
      URI toTheOther =
          URI.create(back.toString().replace(base.toString(), other.http().base().toString()));
      assertThat(toTheOther).isNotEqualTo(back);

      assertThat(location(get(browser, toTheOther))).endsWith("/");

      assertThat(get(browser, base.resolve("/api/v1/overview")).statusCode()).isEqualTo(200);
    }
  }

  private static String location(HttpResponse<String> redirect) {
    return redirect.headers().firstValue("Location").orElseThrow();
  }

  @Test
  void aLogInThatIsBegunButNotCompletedLeavesNoSession() throws Exception {
    HttpResponse<String> redirect =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(base.resolve("/oauth2/authorization/shop")).build(),
                HttpResponse.BodyHandlers.ofString());

    assertThat(redirect.statusCode()).isEqualTo(302);
    assertThat(redirect.headers().allValues("Set-Cookie"))
        .noneMatch(cookie -> cookie.startsWith(ConsoleSession.COOKIE))
        .anyMatch(
            cookie -> cookie.startsWith("order-timeout-log-in=") && cookie.contains("HttpOnly"));
  }

  @Test
  void anUnavailableProviderPreventsNothingButItsLogIns() throws Exception {
    TokenIssuer unavailable = TokenIssuer.start();
    unavailable.close();
    try (Service other = scenario.startService(unavailable.logInSettings())) {
      other.awaitReady(true);
      assertThat(other.http().get("/api/v1/session").status()).isEqualTo(200);
      URI logIn = other.http().base().resolve("/oauth2/authorization/shop");
      assertThat(get(browser(), logIn).statusCode()).isEqualTo(500);
    }
  }

  private static HttpClient browser() {
    return browser(HttpClient.Redirect.ALWAYS);
  }

  private static HttpClient browser(HttpClient.Redirect redirect) {
    return HttpClient.newBuilder()
        .cookieHandler(new CookieManager())
        .followRedirects(redirect)
        .build();
  }

  private static HttpResponse<String> get(HttpClient browser, URI uri)
      throws IOException, InterruptedException {
    return browser.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
  }
}
