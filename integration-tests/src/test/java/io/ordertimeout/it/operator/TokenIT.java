package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.TokenIssuer;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Bearer tokens, which are the only credentials once an issuer is configured. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TokenIT {

  private static final String VIEWER = "order-timeout-viewer";
  private static final String OPERATOR = "order-timeout-operator";

  private final Scenario scenario = Scenario.create();
  private final TokenIssuer issuer = TokenIssuer.start();
  private final Service service =
      scenario.startService(
          Stream.concat(
                  Stream.of(issuer.settings()),
                  Stream.of(
                      "server.forward-headers-strategy", "native",
                      "server.tomcat.remoteip.internal-proxies", "127.0.0.1"))
              .toArray(String[]::new));

  @AfterAll
  void close() {
    service.close();
    issuer.close();
    scenario.close();
  }

  @Test
  void theRolesOfATokenDetermineItsPermissions() {
    Http viewer = bearer(issuer.token(VIEWER));
    Http operator = bearer(issuer.token("x", OPERATOR));
    Http nobody = bearer(issuer.token("admin"));

    assertThat(viewer.get("/api/v1/overview").status()).isEqualTo(200);
    assertThat(viewer.post("/api/v1/pauses", Map.of()).status()).isEqualTo(403);
    assertThat(operator.get("/api/v1/overview").status()).isEqualTo(200);
    assertThat(
            operator
                .post("/api/v1/pauses", Map.of("moveDeadlines", false, "reason", "r"))
                .json()
                .path("placedBy")
                .asString())
        .isEqualTo("jane");
    assertThat(nobody.get("/api/v1/overview").status()).isEqualTo(403);
  }

  @Test
  void invalidTokensAreLimitedByAddress() {
    Http valid = bearer(issuer.token(VIEWER));
    String forged = issuer.forgedToken(OPERATOR);
    for (int i = 0; i < 10; i++) {
      Http attacker = bearer(forged).with("X-Forwarded-For", "203.0.113.1");
      assertThat(attacker.get("/api/v1/overview").status()).isEqualTo(401);
    }
    Http.Answer refused = valid.with("X-Forwarded-For", "203.0.113.1").get("/api/v1/overview");
    assertThat(refused.status()).isEqualTo(429);
    assertThat(refused.header("Retry-After")).isEqualTo("30");
    assertThat(valid.with("X-Forwarded-For", "203.0.113.2").get("/api/v1/overview").status())
        .isEqualTo(200);
  }

  @Test
  void forgedExpiredAndForeignTokensAndPasswordsAreRefused() {
    for (Http refused :
        List.of(
            bearer(issuer.forgedToken(OPERATOR)),
            bearer(issuer.expiredToken(OPERATOR)),
            bearer(issuer.foreignToken(OPERATOR)),
            bearer(issuer.tokenForAnother(OPERATOR)),
            bearer(issuer.unsignedToken(OPERATOR)),
            bearer("x.y.z"),
            service.http().operator())) {
      assertThat(refused.get("/api/v1/overview").status()).isEqualTo(401);
    }
    assertThat(service.http().get("/api/v1/session").json().path("passwords").asBoolean())
        .isFalse();
  }

  private Http bearer(String token) {
    return service.http().with("Authorization", "Bearer " + token);
  }
}
