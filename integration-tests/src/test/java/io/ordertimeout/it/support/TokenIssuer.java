package io.ordertimeout.it.support;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import java.net.InetAddress;
import java.net.URI;
import java.text.ParseException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import no.nav.security.mock.oauth2.MockOAuth2Server;
import no.nav.security.mock.oauth2.http.OAuth2HttpRequest;
import no.nav.security.mock.oauth2.http.OAuth2HttpResponse;
import no.nav.security.mock.oauth2.http.Route;
import no.nav.security.mock.oauth2.token.DefaultOAuth2TokenCallback;
import okhttp3.Headers;
import org.springframework.web.util.UriComponentsBuilder;

/**
 * An OpenID Connect provider on the loopback address that issues tokens for the user jane and logs
 * her in without asking for a password (authorization code flow).
 */
public final class TokenIssuer implements AutoCloseable {

  private static final Duration VALID = Duration.ofHours(1);
  private static final String ID = "staff";
  private static final String USER = "jane";
  private static final String AUDIENCE = "order-timeout";

  private final MockOAuth2Server server = new MockOAuth2Server(new Refusal());
  private volatile boolean refusing = true;

  private TokenIssuer() {}

  public static TokenIssuer start() {
    TokenIssuer issuer = new TokenIssuer();
    issuer.server.start(InetAddress.getLoopbackAddress(), 0);
    return issuer;
  }

  public URI uri() {
    // The browser of a test must see a different site than the service's, which is at localhost.
    return URI.create("http://127.0.0.1:" + server.baseUrl().port() + "/" + ID);
  }

  /** Settings with which a service accepts its tokens, as pairs of name and value. */
  public String[] settings() {
    return new String[] {
      "spring.security.oauth2.resourceserver.jwt.issuer-uri",
      uri().toString(),
      "spring.security.oauth2.resourceserver.jwt.audiences",
      AUDIENCE,
      "order-timeout.access.roles-claim",
      "realm_access.roles"
    };
  }

  /** Settings with which a service has people log in here, as pairs of name and value. */
  public String[] logInSettings() {
    String registration = "spring.security.oauth2.client.registration.shop.";
    return new String[] {
      registration + "client-id",
      "order-timeout",
      registration + "client-secret",
      "a secret of the test's own",
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

  /** Refuses log-ins from now on, as at the start. */
  public void refuseLogIns() {
    refusing = true;
  }

  /** Grants these roles to the next user who logs in. */
  public void logIn(String... roles) {
    refusing = false;
    server.enqueueCallback(
        new DefaultOAuth2TokenCallback(ID, USER, "JWT", null, rolesClaim(roles)));
  }

  public String token(String... roles) {
    return token(uri().toString(), VALID, roles).serialize();
  }

  public String expiredToken(String... roles) {
    return token(uri().toString(), VALID.negated(), roles).serialize();
  }

  /** A token that claims this issuer, but is signed with another key. */
  public String forgedToken(String... roles) {
    SignedJWT genuine = token(uri().toString(), VALID, roles);
    try {
      SignedJWT forged = new SignedJWT(genuine.getHeader(), genuine.getJWTClaimsSet());
      forged.sign(new RSASSASigner(new RSAKeyGenerator(2048).generate()));
      return forged.serialize();
    } catch (JOSEException | ParseException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A token with this issuer's signature that claims another issuer. */
  public String foreignToken(String... roles) {
    return token("http://another.example", VALID, roles).serialize();
  }

  /** A token that this issuer has issued for another application. */
  public String tokenForAnother(String... roles) {
    return token(uri().toString(), "another", VALID, roles).serialize();
  }

  /** A token that claims this issuer and needs no signature. */
  public String unsignedToken(String... roles) {
    try {
      return new PlainJWT(token(uri().toString(), VALID, roles).getJWTClaimsSet()).serialize();
    } catch (ParseException e) {
      throw new IllegalStateException(e);
    }
  }

  private SignedJWT token(String issuer, Duration validity, String... roles) {
    return token(issuer, AUDIENCE, validity, roles);
  }

  private SignedJWT token(String issuer, String audience, Duration validity, String... roles) {
    Map<String, Object> claims = rolesClaim(roles);
    claims.put("iss", issuer);
    return server.issueToken(ID, USER, audience, claims, validity.toSeconds());
  }

  private static Map<String, Object> rolesClaim(String... roles) {
    return new HashMap<>(Map.of("realm_access", Map.of("roles", List.of(roles))));
  }

  @Override
  public void close() {
    server.shutdown();
  }

  /** What the provider answers to people whose log-in it refuses. */
  private final class Refusal implements Route {

    @Override
    public boolean match(OAuth2HttpRequest request) {
      return refusing && request.getUrl().encodedPath().endsWith("/authorize");
    }

    @Override
    public OAuth2HttpResponse invoke(OAuth2HttpRequest request) {
      String back =
          UriComponentsBuilder.fromUriString(request.getUrl().queryParameter("redirect_uri"))
              .queryParam("error", "access_denied")
              .queryParam("state", request.getUrl().queryParameter("state"))
              .toUriString();
      return new OAuth2HttpResponse(Headers.of("Location", back), 302, null, null);
    }
  }
}
