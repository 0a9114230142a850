package io.ordertimeout.it.support;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.http.HttpHeaders;
import org.springframework.util.MultiValueMap;
import org.springframework.web.util.UriComponentsBuilder;
import org.springframework.web.util.UriUtils;
import tools.jackson.databind.json.JsonMapper;

/**
 * An OpenID Connect provider on the loopback address: it publishes its key, issues tokens for the
 * user jane and logs her in without asking for a password (authorization code flow).
 */
public final class TokenIssuer implements AutoCloseable {

  private static final Duration VALID = Duration.ofHours(1);

  private static final String CLIENT = "order-timeout";
  private static final String CLIENT_SECRET = "a secret of the test's own";

  private final RSAKey key = newKey();
  private final HttpServer server;
  private final Map<String, String> nonces = new ConcurrentHashMap<>();
  private volatile List<String> grantedRoles = List.of();

  private TokenIssuer(HttpServer server) {
    this.server = server;
  }

  public static TokenIssuer start() {
    try {
      TokenIssuer issuer =
          new TokenIssuer(
              HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0));
      issuer.answer(
          "/.well-known/openid-configuration",
          Map.of(
              "issuer",
              issuer.uri().toString(),
              "jwks_uri",
              issuer.uri() + "/keys",
              "authorization_endpoint",
              issuer.uri() + "/authorize",
              "token_endpoint",
              issuer.uri() + "/token",
              "subject_types_supported",
              List.of("public")));
      issuer.answer("/keys", new JWKSet(issuer.key.toPublicJWK()).toJSONObject());
      issuer.server.createContext("/authorize", issuer::authorize);
      issuer.server.createContext("/token", issuer::redeem);
      issuer.server.start();
      return issuer;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void answer(String path, Map<String, ?> body) {
    server.createContext(path, exchange -> answer(exchange, body));
  }

  private static void answer(HttpExchange exchange, Map<String, ?> body) throws IOException {
    byte[] bytes = JsonMapper.shared().writeValueAsString(body).getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  // Without roles, log-ins are refused.
  private void authorize(HttpExchange exchange) throws IOException {
    MultiValueMap<String, String> asked =
        UriComponentsBuilder.fromUri(exchange.getRequestURI()).build().getQueryParams();
    String code = UUID.randomUUID().toString();
    nonces.put(code, decoded(asked, "nonce"));
    exchange
        .getResponseHeaders()
        .add(
            "Location",
            UriComponentsBuilder.fromUriString(decoded(asked, "redirect_uri"))
                .queryParam(grantedRoles.isEmpty() ? "error" : "code", code)
                .queryParam("state", Objects.requireNonNull(asked.getFirst("state")))
                .build()
                .toUriString());
    exchange.sendResponseHeaders(302, -1);
    exchange.close();
  }

  private static String decoded(MultiValueMap<String, String> parameters, String name) {
    return UriUtils.decode(
        Objects.requireNonNull(parameters.getFirst(name)), StandardCharsets.UTF_8);
  }

  private void redeem(HttpExchange exchange) throws IOException {
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    String code =
        UriComponentsBuilder.fromUriString("?" + body).build().getQueryParams().getFirst("code");
    String nonce = nonces.remove(Objects.requireNonNull(code));
    boolean known =
        HttpHeaders.encodeBasicAuth(encoded(CLIENT), encoded(CLIENT_SECRET), null)
            .equals(exchange.getRequestHeaders().getFirst("Authorization").replace("Basic ", ""));
    if (nonce == null || !known) {
      exchange.sendResponseHeaders(400, -1);
      exchange.close();
      return;
    }
    Instant expiry = Instant.now().plus(VALID);
    String[] roles = grantedRoles.toArray(String[]::new);
    answer(
        exchange,
        Map.of(
            "access_token",
            token(key, uri().toString(), expiry, roles),
            "token_type",
            "Bearer",
            "expires_in",
            VALID.toSeconds(),
            "id_token",
            signed(
                key,
                claims(uri().toString(), expiry, roles)
                    .audience(CLIENT)
                    .issueTime(Date.from(Instant.now()))
                    .claim("nonce", nonce)
                    .build())));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  public URI uri() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  /** Settings with which a service accepts its tokens, as pairs of name and value. */
  public String[] settings() {
    return new String[] {
      "spring.security.oauth2.resourceserver.jwt.issuer-uri",
      uri().toString(),
      "order-timeout.access.roles-claim",
      "realm_access.roles"
    };
  }

  /** Settings with which a service has people log in here, as pairs of name and value. */
  public String[] logInSettings() {
    String registration = "spring.security.oauth2.client.registration.shop.";
    return new String[] {
      registration + "client-id",
      CLIENT,
      registration + "client-secret",
      CLIENT_SECRET,
      registration + "client-name",
      "the shop",
      registration + "scope",
      "openid",
      "spring.security.oauth2.client.provider.shop.issuer-uri",
      uri().toString(),
      "order-timeout.access.roles-claim",
      "realm_access.roles"
    };
  }

  /** Refuses log-ins from now on. */
  public void refuseLogIns() {
    grantedRoles = List.of();
  }

  /** Grants these roles, at least one, to users who log in from now on. */
  public void logIn(String... roles) {
    grantedRoles = List.of(roles);
  }

  public String token(String... roles) {
    return token(key, uri().toString(), Instant.now().plus(VALID), roles);
  }

  public String expiredToken(String... roles) {
    return token(key, uri().toString(), Instant.now().minus(VALID), roles);
  }

  /** A token that claims this issuer, but is signed with another key. */
  public String forgedToken(String... roles) {
    return token(newKey(), uri().toString(), Instant.now().plus(VALID), roles);
  }

  /** A token with this issuer's signature that claims another issuer. */
  public String foreignToken(String... roles) {
    return token(key, "http://another.example", Instant.now().plus(VALID), roles);
  }

  private static String token(RSAKey key, String issuer, Instant expiry, String... roles) {
    return signed(key, claims(issuer, expiry, roles).build());
  }

  private static JWTClaimsSet.Builder claims(String issuer, Instant expiry, String... roles) {
    return new JWTClaimsSet.Builder()
        .issuer(issuer)
        .subject("jane")
        .expirationTime(Date.from(expiry))
        .claim("realm_access", Map.of("roles", List.of(roles)));
  }

  private static String signed(RSAKey key, JWTClaimsSet claims) {
    SignedJWT token =
        new SignedJWT(
            new JWSHeader.Builder(JWSAlgorithm.RS256).keyID(key.getKeyID()).build(), claims);
    try {
      token.sign(new RSASSASigner(key));
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
    return token.serialize();
  }

  private static RSAKey newKey() {
    try {
      return new RSAKeyGenerator(2048).keyID("k").generate();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
