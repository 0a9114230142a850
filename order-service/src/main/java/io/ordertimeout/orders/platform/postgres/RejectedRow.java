package io.ordertimeout.orders.platform.postgres;

import java.sql.SQLException;
import java.util.Optional;

/** Tells a failure that one row of a batch is to blame for from those that blame Postgres. */
public final class RejectedRow {

  private RejectedRow() {}

  /**
   * Why Postgres refuses a row: data exceptions, broken constraints, what a trigger raises, and
   * rows beyond its limits. Empty if the failure is another, so that the same may succeed later.
   *
   * @see <a href="https://www.postgresql.org/docs/18/errcodes-appendix.html">Error codes</a>
   */
  public static Optional<String> reason(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql && blamesARow(sql.getSQLState())) {
        return Optional.of(sql.getSQLState() + ": " + sql.getMessage());
      }
    }
    return Optional.empty();
  }

  private static boolean blamesARow(String state) {
    return state != null
        && (state.startsWith("22")
            || state.startsWith("23")
            || state.startsWith("54")
            || state.startsWith("P0"));
  }
}
