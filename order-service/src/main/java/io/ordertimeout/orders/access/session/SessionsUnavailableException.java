package io.ordertimeout.orders.access.session;

import java.io.Serial;
import org.springframework.security.authentication.AuthenticationServiceException;

/** Thrown if Postgres cannot tell who a session belongs to; a retry may succeed. */
public final class SessionsUnavailableException extends AuthenticationServiceException {

  @Serial private static final long serialVersionUID = 1L;

  SessionsUnavailableException(RuntimeException cause) {
    super("sessions cannot be read or written, because Postgres does not answer", cause);
  }
}
