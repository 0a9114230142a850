package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpServer;
import io.ordertimeout.it.rig.Http;
import io.ordertimeout.it.rig.Service;
import io.ordertimeout.it.rig.Stage;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.json.JsonMapper;

/** Where an issuer of tokens is configured, its tokens alone say who somebody is. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TokenIT {

  private final Stage stage = Stage.create();
  private final RSAKey key = key();
  private @Nullable HttpServer issuer;
  private @Nullable Service service;
  private String issuerUri = "";

  @BeforeAll
  void start() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    issuerUri = "http://127.0.0.1:" + server.getAddress().getPort();
    answer(
        server,
        "/.well-known/openid-configuration",
        Map.of(
            "issuer",
            issuerUri,
            "jwks_uri",
            issuerUri + "/keys",
            "subject_types_supported",
            List.of("public")));
    answer(server, "/keys", new JWKSet(key.toPublicJWK()).toJSONObject());
    server.start();
    issuer = server;
    service =
        stage.startService(
            "spring.security.oauth2.resourceserver.jwt.issuer-uri",
            issuerUri,
            "order-timeout.access.roles-claim",
            "realm_access.roles");
  }

  private static void answer(HttpServer server, String path, Map<String, ?> body) {
    byte[] bytes = JsonMapper.shared().writeValueAsString(body).getBytes(StandardCharsets.UTF_8);
    server.createContext(
        path,
        exchange -> {
          exchange.getResponseHeaders().add("Content-Type", "application/json");
          exchange.sendResponseHeaders(200, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
  }

  private static RSAKey key() {
    try {
      return new RSAKeyGenerator(2048).keyID("k").generate();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  @AfterAll
  void close() {
    if (service != null) {
      service.close();
    }
    if (issuer != null) {
      issuer.stop(0);
    }
    stage.close();
  }

  @Test
  void theRolesOfATokenSayWhatItsBearerMayDo() throws JOSEException {
    Http viewer = bearer(token(key, issuerUri, hour(), List.of("order-timeout-viewer")));
    Http operator = bearer(token(key, issuerUri, hour(), List.of("x", "order-timeout-operator")));
    Http nobody = bearer(token(key, issuerUri, hour(), List.of("admin")));

    assertThat(viewer.get("/api/overview").status()).isEqualTo(200);
    assertThat(viewer.post("/api/pauses", Map.of()).status()).isEqualTo(403);
    assertThat(operator.get("/api/overview").status()).isEqualTo(200);
    assertThat(
            operator
                .post("/api/pauses", Map.of("moveDeadlines", false, "reason", "r"))
                .json()
                .path("actor")
                .asString())
        .isEqualTo("jane");
    assertThat(nobody.get("/api/overview").status()).isEqualTo(403);
  }

  @Test
  void aTokenThatIsForgedExpiredOrOfAnotherIssuerIsRefusedAndSoArePasswords() throws JOSEException {
    List<String> roles = List.of("order-timeout-operator");
    for (Http refused :
        List.of(
            bearer(token(key(), issuerUri, hour(), roles)),
            bearer(token(key, issuerUri, Instant.now().minus(Duration.ofHours(1)), roles)),
            bearer(token(key, "http://another.example", hour(), roles)),
            bearer("x.y.z"),
            http().operator())) {
      assertThat(refused.get("/api/overview").status()).isEqualTo(401);
    }
    assertThat(http().get("/api/session").json().path("passwords").asBoolean()).isFalse();
  }

  private Http http() {
    if (service == null) {
      throw new IllegalStateException("not started");
    }
    return service.http();
  }

  private Http bearer(String token) {
    return http().with("Authorization", "Bearer " + token);
  }

  private static Instant hour() {
    return Instant.now().plus(Duration.ofHours(1));
  }

  private static String token(RSAKey key, String issuer, Instant expiry, List<String> roles)
      throws JOSEException {
    SignedJWT token =
        new SignedJWT(
            new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("k").build(),
            new JWTClaimsSet.Builder()
                .issuer(issuer)
                .subject("jane")
                .expirationTime(Date.from(expiry))
                .claim("realm_access", Map.of("roles", roles))
                .build());
    token.sign(new RSASSASigner(key));
    return token.serialize();
  }
}
