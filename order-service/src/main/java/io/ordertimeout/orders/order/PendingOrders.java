package io.ordertimeout.orders.order;

import static io.ordertimeout.orders.platform.postgres.ResultSets.parameter;
import static io.ordertimeout.orders.platform.postgres.ResultSets.requiredInstant;

import io.ordertimeout.orders.suspension.ParkedOrders;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.ResultSetExtractor;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/** The pending orders that belong in the wheels: those that are not parked. Thread-safe. */
@Repository
public class PendingOrders {

  /**
   * Some pending orders.
   *
   * @param ids ids of their rows
   * @param stagesMillis their next stages, rounded up to milliseconds
   * @param size number of elements of the arrays that are used
   * @param last where the next page starts; null if there is none
   */
  // Arrays, since the wheel takes arrays; nothing compares pages.
  @SuppressWarnings("ArrayRecordComponent")
  public record Page(long[] ids, long[] stagesMillis, int size, @Nullable Cursor last) {}

  /** A position in the pending orders: after this deadline and id. */
  public record Cursor(Instant deadline, long id) {}

  /**
   * The present state of an order that an operator has changed.
   *
   * @param order the order with its present next stage
   * @param isPending whether it is still pending
   */
  public record Changed(PendingOrder order, boolean isPending) {}

  /**
   * SQL condition: the order {@code d} is pending. For orders that are looked up by their ids:
   * {@code is true} keeps Postgres from reading an index of pending orders instead, which it
   * prefers when it expects few of them, as before the table is analysed.
   */
  static final String IS_PENDING = "(d.state = 'PENDING') is true";

  /** SQL condition: the order {@code d} is one of {@code :ids} and belongs to {@code :shards}. */
  static final String GIVEN = "d.id = any(:ids::bigint[]) and d.shard = any(:shards::int[])";

  private static final String PAGE =
      """
      select d.id, %s from order_deadline d
      where shard = :shard and state = 'PENDING'
        and (deadline, id) > (coalesce(:afterDeadline::timestamptz, '-infinity'), :afterId)
        and %s
      order by deadline, id
      limit :limit
      """
          .formatted(NextStage.COLUMNS, ParkedOrders.NOT_PARKED_OF_MANY);

  private static final String STAGES =
      """
      select d.id, %s from order_deadline d
      where %s and %s and %s
      """
          .formatted(NextStage.COLUMNS, GIVEN, IS_PENDING, ParkedOrders.NOT_PARKED);

  private static final String LEFT_WITHOUT_NOTICE =
      """
      select id from order_deadline d
      where %s and (d.settled_in is not null or d.decided_at < :since::timestamptz or not (%s))
      """
          .formatted(GIVEN, ParkedOrders.NOT_PARKED);

  private static final String CHANGED =
      """
      select d.id, d.shard, d.state = 'PENDING' as pending, %s from order_deadline d
      where d.order_id = any(:orderIds::text[]) and d.shard = any(:shards::int[])
        and d.deadline is not null and %s
      """
          .formatted(NextStage.COLUMNS, ParkedOrders.NOT_PARKED);

  private final JdbcClient client;
  private final NextStage nextStage;

  PendingOrders(JdbcClient client, NextStage nextStage) {
    this.client = client;
    this.nextStage = nextStage;
  }

  /** Reads the page after the cursor, or the first one, by deadline; O(limit) by an index. */
  public Page page(int shard, @Nullable Cursor after, int limit) {
    return client
        .sql(PAGE)
        .param("shard", shard)
        .param("afterDeadline", parameter(after == null ? null : after.deadline()))
        .param("afterId", after == null ? Long.MIN_VALUE : after.id())
        .param("limit", limit)
        .query((ResultSetExtractor<Page>) rows -> page(rows, limit));
  }

  private Page page(ResultSet rows, int limit) throws SQLException {
    long[] ids = new long[limit];
    long[] stagesMillis = new long[limit];
    int size = 0;
    Cursor last = null;
    while (rows.next()) {
      ids[size] = rows.getLong("id");
      stagesMillis[size] = PendingOrder.millisRoundedUp(nextStage.of(rows));
      size++;
      if (size == limit) {
        last = new Cursor(requiredInstant(rows, "deadline"), ids[size - 1]);
      }
    }
    return new Page(ids, stagesMillis, size, last);
  }

  /** Returns the next stages of those of the orders that are pending, in milliseconds. */
  public Map<Long, Long> find(int shard, long[] ids) {
    Map<Long, Long> stagesMillis = new HashMap<>();
    client
        .sql(STAGES)
        .param("ids", ids)
        .param("shards", new int[] {shard})
        .query(
            row -> {
              stagesMillis.put(row.getLong("id"), PendingOrder.millisRoundedUp(nextStage.of(row)));
            });
    return stagesMillis;
  }

  /**
   * Returns those of the orders that left the pending ones without notice to the owner of their
   * shard: they are parked, or a payment or closure in another partition settled them, or a
   * decision was restored that Postgres had lost.
   *
   * @param since when the owner began to read the shard's pending orders; a decision from before
   *     was lost at that time
   */
  public Set<Long> settledElsewhere(int shard, long[] ids, Instant since) {
    return Set.copyOf(
        client
            .sql(LEFT_WITHOUT_NOTICE)
            .param("ids", ids)
            .param("shards", new int[] {shard})
            .param("since", parameter(since))
            .query(Long.class)
            .list());
  }

  /** Returns the present state of changed orders, as far as they belong to those shards. */
  public List<Changed> changed(Collection<String> orderIds, Collection<Integer> shards) {
    return client
        .sql(CHANGED)
        .param("orderIds", orderIds.toArray(String[]::new))
        .param("shards", shards.stream().mapToInt(Integer::intValue).toArray())
        .query(
            (row, number) ->
                new Changed(
                    PendingOrder.of(row.getLong("id"), row.getInt("shard"), nextStage.of(row)),
                    row.getBoolean("pending")))
        .list();
  }
}
