package io.ordertimeout.orders;

/** Postgres could not be reached or did not answer; it may soon. */
public final class PostgresAwayException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  PostgresAwayException(Throwable cause) {
    super("Postgres cannot be reached", cause);
  }
}
