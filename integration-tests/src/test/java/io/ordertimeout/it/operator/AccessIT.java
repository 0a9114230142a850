package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.ConsoleSession;
import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.LogCapture;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import tools.jackson.databind.JsonNode;

/** Access to the API: credentials, roles, sessions and protective headers. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ExtendWith(LogCapture.class)
class AccessIT {

  private record Endpoint(String method, String path) {
    boolean changes() {
      return !method.equals("GET");
    }
  }

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Service service =
      scenario.startService("order-timeout.access.max-failures", "1000");

  @Test
  void everyEndpointRequiresCredentialsAndChangesRequireAnOperator() {
    List<Endpoint> endpoints = endpoints();
    assertThat(endpoints).hasSizeGreaterThan(15).anyMatch(Endpoint::changes);
    for (Endpoint endpoint : endpoints) {
      Http nobody = service.http();
      assertRefused(endpoint, nobody, 401);
      assertRefused(endpoint, nobody.as("operator", "wrong"), 401);
      assertRefused(endpoint, nobody.as("somebody", Http.OPERATOR_PASSWORD), 401);
      assertRefused(endpoint, nobody.with("Authorization", "Bearer no.to.ken"), 401);
      if (endpoint.changes()) {
        assertRefused(endpoint, nobody.viewer(), 403);
        assertThat(call(endpoint, nobody.operator()).status())
            .as(endpoint.toString())
            .isIn(200, 400, 404, 409, 415);
      } else if (!endpoint.path().equals("/api/v1/live")) {
        assertThat(call(endpoint, nobody.viewer()).status())
            .as(endpoint.toString())
            .isIn(200, 400, 404);
      }
    }
  }

  private void assertRefused(Endpoint endpoint, Http who, int status) {
    Answer answer = call(endpoint, who);
    assertThat(answer.status()).as(endpoint.toString()).isEqualTo(status);
    assertThat(answer.header("Content-Type")).startsWith("application/problem+json");
    // A browser that is challenged would send the remembered password with requests of other sites.
    assertThat(answer.header("WWW-Authenticate")).isEmpty();
  }

  private static Answer call(Endpoint endpoint, Http who) {
    String path = endpoint.path().replaceAll("\\{[^}]*}", "1");
    return endpoint.changes() ? who.post(path, Map.of()) : who.get(path);
  }

  /** All documented endpoints, except those for logging in and out. */
  private List<Endpoint> endpoints() {
    JsonNode paths = service.http().get("/contracts/openapi.json").json().path("paths");
    List<Endpoint> endpoints = new ArrayList<>();
    paths
        .properties()
        .forEach(
            path ->
                path.getValue()
                    .propertyNames()
                    .forEach(
                        method ->
                            endpoints.add(
                                new Endpoint(method.toUpperCase(Locale.ROOT), path.getKey()))));
    endpoints.removeIf(endpoint -> endpoint.path().startsWith("/api/v1/session"));
    return endpoints;
  }

  @Test
  void nothingElseIsServed() {
    assertThat(service.http().get("/api/v1/nothing").status()).isEqualTo(401);
    for (String path : List.of("/actuator", "/actuator/env", "/h2-console", "/x")) {
      assertThat(service.http().get(path).status()).as(path).isEqualTo(404);
      assertThat(service.http().operator().get(path).status()).as(path).isEqualTo(404);
    }
    for (String path : List.of("/actuator/env", "/actuator/heapdump", "/actuator/loggers")) {
      assertThat(service.management().get(path).status()).as(path).isEqualTo(404);
    }
    // Needs no authentication; 503 while the service is not ready.
    assertThat(service.management().get("/actuator/health").status()).isIn(200, 503);
    for (String path : List.of("/actuator/info", "/actuator/prometheus")) {
      assertThat(service.management().get(path).status()).as(path).isEqualTo(200);
    }
  }

  @Test
  void changesWithinASessionRequireItsCsrfToken() {
    Http nobody = service.http();
    Answer first = nobody.get("/api/v1/session");
    assertThat(first.json().path("passwords").asBoolean()).isTrue();
    assertThat(first.json().path("name").isNull()).isTrue();
    String token = first.cookie("XSRF-TOKEN");
    Http withToken = nobody.with("Cookie", "XSRF-TOKEN=" + token).with("X-XSRF-TOKEN", token);

    assertThat(
            nobody
                .form("/api/v1/session", "username", "operator", "password", Http.OPERATOR_PASSWORD)
                .status())
        .isEqualTo(401);
    assertThat(withToken.form("/api/v1/session", "username", "operator", "password", "x").status())
        .isEqualTo(401);
    Answer twice =
        withToken.form(
            "/api/v1/session",
            "username",
            "operator",
            "password",
            Http.OPERATOR_PASSWORD,
            "username",
            "viewer");
    assertThat(twice.status()).isEqualTo(400);
    assertThat(twice.json().path("detail").asString()).contains("'username'", "more than once");
    Answer undecodable =
        withToken.postText(
            "/api/v1/session",
            "application/x-www-form-urlencoded",
            "username=operator&password=100%");
    assertThat(undecodable.status()).isEqualTo(400);
    assertThat(undecodable.response().body()).contains("URL-encoded").doesNotContain("100%");
    Answer login =
        withToken.form(
            "/api/v1/session", "username", "operator", "password", Http.OPERATOR_PASSWORD);
    assertThat(login.status()).isEqualTo(204);
    String setCookie = String.join("\n", login.response().headers().allValues("Set-Cookie"));
    assertThat(setCookie).contains(ConsoleSession.COOKIE, "HttpOnly", "SameSite=Lax");
    String session = ConsoleSession.COOKIE + "=" + login.cookie(ConsoleSession.COOKIE);

    Answer who = nobody.with("Cookie", session).get("/api/v1/session");
    assertThat(who.json().path("name").asString()).isEqualTo("operator");
    assertThat(who.json().path("operator").asBoolean()).isTrue();
    String fresh = who.cookie("XSRF-TOKEN");
    assertThat(nobody.with("Cookie", session).get("/api/v1/overview").status()).isEqualTo(200);
    assertThat(nobody.with("Cookie", session).post("/api/v1/pauses", Map.of()).status())
        .isEqualTo(403);
    Http loggedIn =
        nobody.with("Cookie", session + "; XSRF-TOKEN=" + fresh).with("X-XSRF-TOKEN", fresh);
    assertThat(loggedIn.post("/api/v1/pauses", Map.of()).status()).isEqualTo(400);

    assertThat(loggedIn.post("/api/v1/session/end", Map.of()).status()).isEqualTo(204);
    assertThat(nobody.with("Cookie", session).get("/api/v1/overview").status()).isEqualTo(401);
  }

  @Test
  void responsesCarryProtectiveHeaders() {
    Answer answer = service.http().get("/api/v1/session");

    assertThat(answer.header("Content-Security-Policy"))
        .contains("default-src 'self'", "frame-ancestors 'none'")
        .doesNotContain("unsafe");
    assertThat(answer.header("X-Content-Type-Options")).isEqualTo("nosniff");
    assertThat(answer.header("X-Frame-Options")).isEqualTo("DENY");
    assertThat(answer.header("Referrer-Policy")).isEqualTo("no-referrer");
    assertThat(answer.header("Cache-Control")).contains("no-store");
  }

  @Test
  void longResponsesAreCompressedForClientsThatCanReadThem() {
    Http plain = service.http();
    Http compressed = plain.with("Accept-Encoding", "gzip");

    assertThat(plain.get("/contracts/openapi.json").header("Content-Encoding")).isEmpty();
    assertThat(compressed.get("/contracts/openapi.json").header("Content-Encoding"))
        .isEqualTo("gzip");
    assertThat(compressed.get("/api/v1/session").header("Content-Encoding")).isEmpty();
  }

  @Test
  void repeatedFailedLogInsAreRateLimited() {
    try (Service strict =
        scenario.startService(
            "order-timeout.access.max-failures", "3",
            "server.forward-headers-strategy", "native")) {
      // No proxy is trusted, so a client cannot forge its address.
      for (int i = 0; i < 3; i++) {
        Http forged = strict.http().with("X-Forwarded-For", "203.0.113." + i);
        assertThat(forged.as("operator", "guess" + i).get("/api/v1/overview").status())
            .isEqualTo(401);
      }
      Answer answer = strict.http().operator().get("/api/v1/overview");
      assertThat(answer.status()).isEqualTo(429);
      assertThat(answer.header("Retry-After")).isEqualTo("100");
      assertThat(strict.http().get("/api/v1/session").status()).isEqualTo(200);
      assertThat(strict.http().viewer().get("/api/v1/overview").status()).isEqualTo(200);
    }
  }

  @Test
  void withoutAnyPasswordOneIsGeneratedAndLoggedOnce(CapturedOutput output) {
    Pattern told = Pattern.compile("log in as operator with the password (\\S+) ;");
    try (Service fresh =
        scenario.startService(
            "order-timeout.access.operator-password", "",
            "order-timeout.access.viewer-password", "")) {
      Matcher first = told.matcher(output.getAll());
      assertThat(first.find()).isTrue();
      String password = first.group(1);

      assertThat(password).hasSize(24);
      assertThat(fresh.http().as("operator", password).get("/api/v1/overview").status())
          .isEqualTo(200);
      assertThat(fresh.http().as("viewer", "").get("/api/v1/overview").status()).isEqualTo(401);
      assertThat(fresh.http().as("operator", "").get("/api/v1/overview").status()).isEqualTo(401);
      assertThat(output.getAll().split(Pattern.quote(password), -1)).hasSize(2);
    }
    assertThat(output.getAll()).doesNotContain(Http.OPERATOR_PASSWORD, Http.VIEWER_PASSWORD);
  }

  @Test
  void aPasswordMayBeConfiguredAsItsHash() {
    String hash = "{bcrypt}$2a$10$dXJ3SW6G7P50lGmMkkmwe.20cQQubK3.HZWzG3YB1tlRy.fqvM/BG";
    try (Service hashed = scenario.startService("order-timeout.access.operator-password", hash)) {
      assertThat(hashed.http().as("operator", "password").get("/api/v1/overview").status())
          .isEqualTo(200);
      assertThat(hashed.http().as("operator", hash).get("/api/v1/overview").status())
          .isEqualTo(401);
    }
  }
}
