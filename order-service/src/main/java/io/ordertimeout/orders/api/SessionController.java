package io.ordertimeout.orders.api;

import jakarta.servlet.http.HttpServletRequest;
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

/** The user of the current session, and the ways to log in. */
@RestController
class SessionController {

  /**
   * The user of a session, and the ways to log in.
   *
   * @param name the user's name; null if not logged in
   * @param viewer whether the user may read
   * @param operator whether the user may read and make changes
   * @param passwords whether users log in with a name and a password
   * @param tokens whether bearer tokens are accepted
   * @param providers the identity providers through which users log in
   */
  record Session(
      @Nullable String name,
      boolean viewer,
      boolean operator,
      boolean passwords,
      boolean tokens,
      List<Provider> providers) {}

  /**
   * An identity provider.
   *
   * @param name its name, to be shown to users
   * @param path the path that starts a log-in through it
   */
  record Provider(String name, String path) {

    Provider below(String contextPath) {
      return new Provider(name, contextPath + path);
    }
  }

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

  /** The session, also of a client that is not logged in; sets the CSRF token for changes. */
  @GetMapping("/api/v1/session")
  Session session(
      @Nullable Authentication user, @Nullable CsrfToken token, HttpServletRequest request) {
    if (token != null) {
      // The token is lazy: reading it adds its cookie to the response.
      token.getToken();
    }
    List<String> roles =
        user == null
            ? List.of()
            : user.getAuthorities().stream().map(GrantedAuthority::getAuthority).toList();
    boolean operator = roles.contains("ROLE_OPERATOR");
    return new Session(
        user == null ? null : user.getName(),
        operator || roles.contains("ROLE_VIEWER"),
        operator,
        !tokens && providers.isEmpty(),
        tokens,
        providers.stream().map(provider -> provider.below(request.getContextPath())).toList());
  }
}
