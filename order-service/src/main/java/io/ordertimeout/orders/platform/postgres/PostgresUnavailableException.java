package io.ordertimeout.orders.platform.postgres;

/** Postgres could not be reached or did not answer; it may soon. */
public final class PostgresUnavailableException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  PostgresUnavailableException(Throwable cause) {
    super("Postgres cannot be reached", cause);
  }
}
