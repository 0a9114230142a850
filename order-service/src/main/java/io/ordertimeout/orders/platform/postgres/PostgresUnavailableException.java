package io.ordertimeout.orders.platform.postgres;

/** Thrown if Postgres cannot be reached or does not answer; a retry may succeed. */
public final class PostgresUnavailableException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  PostgresUnavailableException(String message) {
    super(message);
  }

  PostgresUnavailableException(Throwable cause) {
    super("Postgres is unavailable", cause);
  }
}
