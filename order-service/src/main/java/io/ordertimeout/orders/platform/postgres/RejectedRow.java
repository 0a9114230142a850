package io.ordertimeout.orders.platform.postgres;

import java.sql.SQLException;
import java.util.Optional;

/** Distinguishes failures that a row's own data caused from failures of Postgres. */
public final class RejectedRow {

  private RejectedRow() {}

  /**
   * Returns why Postgres rejected a row: a data exception, a violated constraint, an exception
   * raised by a trigger, or an exceeded limit. Empty for any other failure; a retry of the same row
   * may then succeed.
   *
   * @see <a href="https://www.postgresql.org/docs/18/errcodes-appendix.html">Error codes</a>
   */
  public static Optional<String> reason(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql && isCausedByRow(sql.getSQLState())) {
        return Optional.of(sql.getSQLState() + ": " + sql.getMessage());
      }
    }
    return Optional.empty();
  }

  private static boolean isCausedByRow(String state) {
    return state != null
        && (state.startsWith("22")
            || state.startsWith("23")
            || state.startsWith("54")
            || state.startsWith("P0"));
  }
}
