package io.ordertimeout.orders.platform.postgres;

import com.zaxxer.hikari.SQLExceptionOverride;
import java.sql.SQLException;

/**
 * Tells the connection pool to discard a connection whose server has refused a write as read-only.
 * Such a connection may lead to a former primary while new ones lead to its successor, and it would
 * otherwise fail for as long as it lives. Thread-safe.
 */
public final class ReadOnlyConnectionEviction implements SQLExceptionOverride {

  private static final String READ_ONLY = "25006";

  @java.lang.Override
  public SQLExceptionOverride.Override adjudicate(SQLException failure) {
    return READ_ONLY.equals(failure.getSQLState())
        ? SQLExceptionOverride.Override.MUST_EVICT
        : SQLExceptionOverride.Override.CONTINUE_EVICT;
  }
}
