package io.ordertimeout.orders.api;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.security.oauth2.client.autoconfigure.OAuth2ClientProperties;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.oauth2.client.web.OAuth2AuthorizationRequestRedirectFilter;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Who is asking, and how to log in. */
@RestController
class SessionController {

  /**
   * Who is asking.
   *
   * @param name the name; null if not logged in
   * @param viewer whether they may look
   * @param operator whether they may look and change
   * @param passwords whether one logs in with a name and a password
   * @param tokens whether a bearer token is accepted
   * @param providers where else one logs in
   */
  record Session(
      @Nullable String name,
      boolean viewer,
      boolean operator,
      boolean passwords,
      boolean tokens,
      List<Provider> providers) {}

  /**
   * Logs people in.
   *
   * @param name what it is called
   * @param path where a browser goes for it
   */
  record Provider(String name, String path) {}

  private final boolean tokens;
  private final List<Provider> providers;

  SessionController(
      ObjectProvider<JwtDecoder> tokens, ObjectProvider<OAuth2ClientProperties> providers) {
    this.tokens = tokens.getIfAvailable() != null;
    this.providers =
        providers.stream()
            .flatMap(properties -> properties.getRegistration().entrySet().stream())
            .map(entry -> provider(entry.getKey(), entry.getValue()))
            .toList();
  }

  private static Provider provider(String id, OAuth2ClientProperties.Registration registration) {
    return new Provider(
        Objects.requireNonNullElse(registration.getClientName(), id),
        OAuth2AuthorizationRequestRedirectFilter.DEFAULT_AUTHORIZATION_REQUEST_BASE_URI + "/" + id);
  }

  /** Who is asking, also when nobody is logged in; comes with the token that changes need. */
  @GetMapping("/api/session")
  Session session(@Nullable Authentication who, @Nullable CsrfToken token) {
    if (token != null) {
      // Asked for, so that it is sent.
      token.getToken();
    }
    List<String> roles =
        who == null
            ? List.of()
            : who.getAuthorities().stream().map(GrantedAuthority::getAuthority).toList();
    boolean operator = roles.contains("ROLE_OPERATOR");
    return new Session(
        who == null ? null : who.getName(),
        operator || roles.contains("ROLE_VIEWER"),
        operator,
        !tokens && providers.isEmpty(),
        tokens,
        providers);
  }
}
