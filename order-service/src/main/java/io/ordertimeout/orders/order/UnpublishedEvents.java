package io.ordertimeout.orders.order;

import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxRows;
import io.ordertimeout.orders.platform.postgres.ServerIdentity;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * Finds the events that wait in the outbox. What was unknown of an order when its event was
 * written, the order's row may have by now, and then the event tells of it. Thread-safe.
 */
@Repository
public class UnpublishedEvents {

  /**
   * Events that were found.
   *
   * @param events the events, by shard and id
   * @param server the identity of the server that contains them; empty if there are none
   */
  public record Found(List<OutboxEvent> events, String server) {

    /** No events. */
    public static final Found NONE = new Found(List.of(), "");
  }

  // A conflict may have met another decision than the one that is restored, and a cancellation may
  // be announced before the creation of its order is read again.
  private static final String FIND =
      """
      select
        o.id, o.kind, o.order_id, o.payment_id, o.shard,
        coalesce(d.created_at, o.created_at) as created_at,
        coalesce(d.deadline, o.deadline) as deadline,
        coalesce(d.cancelled_at, o.cancelled_at) as cancelled_at,
        o.paid_at, o.traceparent, o.written_at, %s as server
      from (
        %s
      ) o
      left join lateral (
        select
          created_at, deadline, case when state = 'CANCELLED' then decided_at end as cancelled_at
        from order_deadline
        where order_id = o.order_id and (o.created_at is null or o.cancelled_at is null)
        -- Looked up for each of these few events, instead of joined.
        offset 0
      ) d on true
      order by o.shard, o.id
      """
          .formatted(ServerIdentity.SQL, OutboxRows.LEFT_BEHIND);

  private final JdbcClient client;

  UnpublishedEvents(JdbcClient client) {
    this.client = client;
  }

  /**
   * Returns at most {@code limit} events of those shards, by shard and id; O(limit) by indexes.
   *
   * @param afterShard the shard of the event before the first one
   * @param afterId the id of the event before the first one
   * @param olderThanSeconds the age of the youngest one
   */
  public Found find(
      Set<Integer> shards, int afterShard, long afterId, double olderThanSeconds, int limit) {
    return Objects.requireNonNull(
        client
            .sql(FIND)
            .param("shards", shards.stream().mapToInt(Integer::intValue).toArray())
            .param("afterShard", afterShard)
            .param("afterId", afterId)
            .param("olderThanSeconds", olderThanSeconds)
            .param("limit", limit)
            .query(UnpublishedEvents::all));
  }

  private static Found all(ResultSet rows) throws SQLException {
    List<OutboxEvent> events = new ArrayList<>();
    String server = "";
    while (rows.next()) {
      server = rows.getString("server");
      events.add(OutboxRows.event(rows, events.size()));
    }
    return new Found(events, server);
  }
}
