package io.ordertimeout.orders.deadline;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;

/**
 * The pending orders of a shard that are not parked, page by page, nearest deadline first.
 * Thread-safe.
 */
@Repository
public class PendingOrders {

  /**
   * Some pending orders.
   *
   * @param ids rows' ids
   * @param deadlinesMillis their deadlines, rounded up to milliseconds
   * @param size how many of the arrays' elements count
   * @param last where the next page starts; null if there is none
   */
  // Arrays, since the wheel takes arrays; nobody compares pages.
  @SuppressWarnings("ArrayRecordComponent")
  public record Page(long[] ids, long[] deadlinesMillis, int size, @Nullable Cursor last) {}

  /** A place in the order of the pending: behind that deadline and id. */
  public record Cursor(Instant deadline, long id) {}

  private static final String PAGE =
      """
      select id, deadline from order_deadline d
      where shard = ? and state = 'PENDING'
        and (deadline, id) > (coalesce(?::timestamptz, '-infinity'), ?)
        and not exists (select from parked_order p where p.order_id = d.order_id)
      order by deadline, id
      limit ?
      """;

  private static final String FIND =
      """
      select id, deadline from order_deadline d
      where id = any(?::bigint[]) and shard = ? and state = 'PENDING'
        and not exists (select from parked_order p where p.order_id = d.order_id)
      """;

  private final JdbcTemplate jdbc;

  PendingOrders(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  /** Reads the page behind the cursor, or the first one; O(limit) by an index. */
  public Page page(int shard, @Nullable Cursor after, int limit) {
    long[] ids = new long[limit];
    long[] deadlinesMillis = new long[limit];
    OffsetDateTime deadline = after == null ? null : after.deadline().atOffset(ZoneOffset.UTC);
    return jdbc.query(
        PAGE,
        rs -> {
          int size = 0;
          Instant last = Instant.MIN;
          while (rs.next()) {
            last = rs.getObject(2, OffsetDateTime.class).toInstant();
            ids[size] = rs.getLong(1);
            deadlinesMillis[size] = PendingOrder.millisRoundedUp(last);
            size++;
          }
          Cursor cursor = size < limit ? null : new Cursor(last, ids[size - 1]);
          return new Page(ids, deadlinesMillis, size, cursor);
        },
        shard,
        deadline,
        after == null ? Long.MIN_VALUE : after.id(),
        limit);
  }

  /** The deadlines of those of the orders that are pending, by id, rounded up to milliseconds. */
  public Map<Long, Long> find(int shard, long[] ids) {
    Map<Long, Long> deadlinesMillis = new HashMap<>();
    jdbc.query(
        FIND,
        rs -> {
          Instant deadline = rs.getObject(2, OffsetDateTime.class).toInstant();
          deadlinesMillis.put(rs.getLong(1), PendingOrder.millisRoundedUp(deadline));
        },
        ids,
        shard);
    return deadlinesMillis;
  }
}
