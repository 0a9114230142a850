package io.ordertimeout.orders.access.session;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.security.core.Authentication;
import org.springframework.security.web.authentication.session.ChangeSessionIdAuthenticationStrategy;
import org.springframework.security.web.authentication.session.SessionAuthenticationStrategy;

/**
 * What happens before a log-in becomes a session: the user's oldest sessions end if there are too
 * many, and an existing session gets a new id, which prevents session fixation. Thread-safe.
 */
public final class NewSession implements SessionAuthenticationStrategy {

  private final SessionAuthenticationStrategy changeId =
      new ChangeSessionIdAuthenticationStrategy();
  private final SharedSessions<?> sessions;

  /** Creates it for these sessions. */
  public NewSession(SharedSessions<?> sessions) {
    this.sessions = sessions;
  }

  @Override
  public void onAuthentication(
      Authentication user, HttpServletRequest request, HttpServletResponse response) {
    sessions.makeRoom(user.getName());
    changeId.onAuthentication(user, request, response);
  }
}
