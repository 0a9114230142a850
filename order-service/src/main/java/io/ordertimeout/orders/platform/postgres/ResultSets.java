package io.ordertimeout.orders.platform.postgres;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads values that JDBC has no method for. */
public final class ResultSets {

  private ResultSets() {}

  /** Reads a {@code timestamptz}; null if the column is null. */
  public static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
    OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
    return time == null ? null : time.toInstant();
  }

  /** Reads a {@code timestamptz} of a column that is never null. */
  public static Instant requiredInstant(ResultSet row, String column) throws SQLException {
    return Objects.requireNonNull(instant(row, column), column);
  }

  /** The form in which the driver takes a {@code timestamptz}; null stays null. */
  public static @Nullable OffsetDateTime parameter(@Nullable Instant time) {
    return time == null ? null : time.atOffset(ZoneOffset.UTC);
  }
}
