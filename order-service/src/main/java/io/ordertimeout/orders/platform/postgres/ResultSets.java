package io.ordertimeout.orders.platform.postgres;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads values that JDBC has no method for, and converts parameters. */
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

  /** Converts values to texts, which Postgres casts; null stays null. */
  public static <T> @Nullable String[] texts(
      Collection<? extends T> items, Function<T, @Nullable Object> value) {
    @Nullable String[] texts = new @Nullable String[items.size()];
    int i = 0;
    for (T item : items) {
      Object v = value.apply(item);
      texts[i++] = v == null ? null : v.toString();
    }
    return texts;
  }
}
