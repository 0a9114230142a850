package io.ordertimeout.orders.platform.postgres;

/** Thrown if Postgres cannot be reached or does not answer; a retry may succeed. */
public final class PostgresUnavailableException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** Its message says it all, so it has no stack trace. */
  PostgresUnavailableException(String message) {
    super(message, null, false, false);
  }

  PostgresUnavailableException(Throwable cause) {
    super("Postgres is unavailable", cause);
  }
}
