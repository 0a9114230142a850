package io.ordertimeout.orders.order;

import static io.ordertimeout.orders.platform.postgres.ResultSets.instant;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * When and where an event was published.
 *
 * @param at when Kafka acknowledged it
 * @param partition the partition of its record; null if an earlier release published it
 * @param offset the offset of its record; null if it is not known
 */
public record Publication(Instant at, @Nullable Integer partition, @Nullable Long offset) {

  /** Reads the columns of the outbox; null if the event is not published. */
  static @Nullable Publication of(ResultSet row) throws SQLException {
    Instant at = instant(row, "published_at");
    return at == null
        ? null
        : new Publication(
            at,
            row.getObject("record_partition", Integer.class),
            row.getObject("record_offset", Long.class));
  }
}
