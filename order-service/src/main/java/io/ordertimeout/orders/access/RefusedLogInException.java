package io.ordertimeout.orders.access;

import java.io.Serial;
import java.time.Duration;
import org.springframework.http.HttpStatus;
import org.springframework.security.core.AuthenticationException;

/** A log-in whose password was not checked, because of a limit. */
final class RefusedLogInException extends AuthenticationException {

  @Serial private static final long serialVersionUID = 1L;

  private final HttpStatus status;
  private final Duration retryAfter;

  RefusedLogInException(HttpStatus status, String message, Duration retryAfter) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }

  HttpStatus status() {
    return status;
  }

  /** Returns after which time another attempt may succeed. */
  Duration retryAfter() {
    return retryAfter;
  }
}
