package io.ordertimeout.orders.api;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.GrantedAuthority;
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
   * @param operator whether changes are allowed
   * @param passwords whether one logs in with a name and a password; else with a token
   */
  record Session(@Nullable String name, boolean operator, boolean passwords) {}

  private final boolean passwords;

  SessionController(ObjectProvider<JwtDecoder> tokens) {
    this.passwords = tokens.getIfAvailable() == null;
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
    return new Session(
        who == null ? null : who.getName(), roles.contains("ROLE_OPERATOR"), passwords);
  }
}
