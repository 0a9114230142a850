package io.ordertimeout.orders.order;

import static io.ordertimeout.orders.platform.postgres.ResultSets.requiredInstant;
import static io.ordertimeout.orders.platform.postgres.ResultSets.texts;

import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.platform.postgres.ServerIdentity;
import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.ResultSetExtractor;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * Finds the events of the outbox that are not published, and records their publication in their
 * rows. Thread-safe.
 */
@Repository
public class OutboxStore {

  /**
   * An event that Kafka has acknowledged.
   *
   * @param partition where it was published
   * @param offset its offset there; -1 if the broker did not report it
   */
  public record Acknowledged(OutboxEvent event, TopicPartition partition, long offset) {}

  /**
   * A warning of an order.
   *
   * @param number its number, from 1
   * @param leadTime how long before the deadline it is
   * @param publication when and where it was published; null if it was not
   */
  public record Warning(
      int number, Duration leadTime, Instant writtenAt, @Nullable Publication publication) {}

  /**
   * A position in the outbox.
   *
   * @param orderRow the row of an order of the shard
   * @param paymentId as in the event's key
   */
  public record Position(int shard, long orderRow, String paymentId) {

    /** Before all events. */
    public static final Position START = new Position(-1, 0, "");

    /** Returns the position of an event. */
    public static Position of(OutboxEvent event) {
      return new Position(event.shard(), event.orderRow(), event.key().paymentId());
    }
  }

  /**
   * Events that were found.
   *
   * @param events the events, by position
   * @param end the position of the last row that was read; null if there is none after it
   * @param server the identity of the server that contains them; empty if there are none
   */
  public record Found(List<OutboxEvent> events, @Nullable Position end, String server) {

    /** No events. */
    public static final Found NONE = new Found(List.of(), null, "");
  }

  private static final String FIND =
      """
      select
        o.order_row, o.payment_id, o.shard, o.paid_at, o.written_at, %s, %s as server,
        -- Not stored by an earlier version, nor with a lost cancellation.
        coalesce(o.due_at, d.deadline + %s) as due_at,
        w.number as warning, d.leads[w.number] as lead_seconds,
        case when w.number = cardinality(d.leads)
          then d.deadline + make_interval(secs => d.confirm_seconds) end as confirm_by,
        w.number is not null and (d.state <> 'PENDING' or d.deadline <= clock_timestamp()) as is_over
      from (
        select order_row, payment_id, shard, paid_at, written_at, due_at from outbox
        where published_at is null and shard = any(:shards::int[])
          and (shard, order_row, payment_id) > (:shard, :orderRow, :paymentId)
          and written_at < clock_timestamp() - make_interval(secs => :olderThanSeconds)
        order by shard, order_row, payment_id
        limit :limit
      ) o
      left join lateral (
        select * from order_deadline where id = o.order_row
        -- Looked up for each of these few events, instead of joined.
        offset 0
      ) d on true
      cross join lateral (select %s as number) w
      order by o.shard, o.order_row, o.payment_id
      """
          .formatted(OutboxRows.OF_ORDER, ServerIdentity.SQL, NextStage.GRACE, OutboxRows.WARNING);

  // Warnings that were not published before their orders were decided or due.
  private static final String DELETE =
      """
      delete from outbox o
      using unnest(:orderRows::bigint[], :paymentIds::text[]) as w(order_row, payment_id)
      where o.order_row = w.order_row and o.payment_id = w.payment_id and o.published_at is null
      """;

  // By the order's id as well, because a Postgres that has lost commits gives an order's row to
  // another order. Each row is looked up, even where Postgres expects an empty outbox.
  private static final String RECORD =
      """
      with acknowledged as (
        select o.version, a.partition, a.record_offset, d.currency, d.amount
        from unnest(
          :orderRows::bigint[], :orderIds::text[], :paymentIds::text[], :partitions::int[],
          :offsets::bigint[])
          as a(order_row, order_id, payment_id, partition, record_offset)
        cross join lateral (
          select order_id, currency, amount from order_deadline where id = a.order_row offset 0
        ) d
        cross join lateral (
          select ctid as version from outbox o
          where o.order_row = a.order_row and o.payment_id = a.payment_id and published_at is null
          offset 0
        ) o
        where d.order_id = a.order_id
      ), published as (
        update outbox o set
          published_at = clock_timestamp(),
          record_partition = a.partition,
          record_offset = nullif(a.record_offset, -1)
        from acknowledged a
        where o.ctid = a.version
        returning o.payment_id, a.currency, a.amount
      )
      select currency, sum(amount) as amount from published
      where payment_id = '' and currency is not null and amount is not null
      group by currency
      """;

  private static final String CANCELLATION =
      """
      select published_at, record_partition, record_offset from outbox
      where order_row = (select id from order_deadline where order_id = :orderId)
        and payment_id = '' and published_at is not null
      """;

  private static final String LATE_BY_MILLIS =
      """
      select d.order_id, o.millis
      from order_deadline d
      cross join lateral (
        select floor(extract(epoch from written_at - due_at) * 1000)::bigint as millis from outbox
        where order_row = d.id and payment_id = '' and due_at is not null
        -- Looked up for each order, instead of joined.
        offset 0
      ) o
      where d.order_id = any(:orderIds::text[])
      """;

  private static final String WARNINGS =
      """
      select w.number as warning, d.leads[w.number] as lead_seconds, o.written_at, o.published_at,
        o.record_partition, o.record_offset
      from order_deadline d
      join outbox o on o.order_row = d.id
      cross join lateral (select %s as number) w
      where d.order_id = :orderId and w.number is not null
      order by w.number
      """
          .formatted(OutboxRows.WARNING);

  private static final Logger log = LoggerFactory.getLogger(OutboxStore.class);

  private final JdbcClient client;
  private final NextStage nextStage;

  OutboxStore(JdbcClient client, NextStage nextStage) {
    this.client = client;
    this.nextStage = nextStage;
  }

  /**
   * Returns at most {@code limit} events of those shards that are not published, by position;
   * O(limit) by indexes. Warnings that are over are deleted instead.
   *
   * @param after the position of the event before the first one
   * @param olderThanSeconds the age of the youngest one
   */
  public Found findUnpublished(
      Set<Integer> shards, Position after, double olderThanSeconds, int limit) {
    List<Position> over = new ArrayList<>();
    Found found =
        Objects.requireNonNull(
            client
                .sql(FIND)
                .params(nextStage.parameters())
                .param("shards", shards.stream().mapToInt(Integer::intValue).toArray())
                .param("shard", after.shard())
                .param("orderRow", after.orderRow())
                .param("paymentId", after.paymentId())
                .param("olderThanSeconds", olderThanSeconds)
                .param("limit", limit)
                .query((ResultSetExtractor<Found>) rows -> page(rows, limit, over)));
    if (!over.isEmpty()) {
      client
          .sql(DELETE)
          .param("orderRows", over.stream().mapToLong(Position::orderRow).toArray())
          .param("paymentIds", texts(over, Position::paymentId))
          .update();
    }
    return found;
  }

  private static Found page(ResultSet rows, int limit, List<Position> over) throws SQLException {
    List<OutboxEvent> events = new ArrayList<>();
    Position end = null;
    String server = "";
    int read = 0;
    for (; rows.next(); read++) {
      server = rows.getString("server");
      end =
          new Position(
              rows.getInt("shard"), rows.getLong("order_row"), rows.getString("payment_id"));
      if (rows.getString("order_id") == null) {
        log.error(
            "The outbox contains an event of order row {}, which somebody has deleted; it cannot be"
                + " published",
            end.orderRow());
      } else if (rows.getBoolean("is_over")) {
        over.add(end);
      } else {
        events.add(OutboxRows.event(rows, read));
      }
    }
    return new Found(events, read < limit ? null : end, server);
  }

  /**
   * Records the publication of events.
   *
   * @return the amounts of the cancelled orders, by currency
   */
  public Map<String, BigDecimal> record(Collection<Acknowledged> acknowledged) {
    Map<String, BigDecimal> amounts = new HashMap<>();
    client
        .sql(RECORD)
        .param("orderRows", acknowledged.stream().mapToLong(a -> a.event().orderRow()).toArray())
        .param(
            "orderIds", acknowledged.stream().map(a -> a.event().orderId()).toArray(String[]::new))
        .param(
            "paymentIds",
            acknowledged.stream().map(a -> a.event().key().paymentId()).toArray(String[]::new))
        .param(
            "partitions", acknowledged.stream().mapToInt(a -> a.partition().partition()).toArray())
        .param("offsets", acknowledged.stream().mapToLong(Acknowledged::offset).toArray())
        .query(
            row -> {
              amounts.put(row.getString("currency"), row.getBigDecimal("amount"));
            });
    return amounts;
  }

  /** Returns the warnings of an order that were written, by number. */
  public List<Warning> warnings(String orderId) {
    return client
        .sql(WARNINGS)
        .param("orderId", orderId)
        .query(
            (row, number) ->
                new Warning(
                    row.getInt("warning"),
                    Duration.ofSeconds(row.getLong("lead_seconds")),
                    requiredInstant(row, "written_at"),
                    Publication.of(row)))
        .list();
  }

  /**
   * Returns how long after it was due each of the orders was cancelled, in milliseconds, by the
   * order's id. There are none of those that an earlier version cancelled, and of those that were
   * restored from Kafka.
   */
  public Map<String, Long> lateByMillis(Collection<String> orderIds) {
    Map<String, Long> millis = new HashMap<>();
    client
        .sql(LATE_BY_MILLIS)
        .param("orderIds", orderIds.toArray(String[]::new))
        .query(
            row -> {
              millis.put(row.getString("order_id"), row.getLong("millis"));
            });
    return millis;
  }

  /** Returns when and where the order's cancellation was published; empty if it was not. */
  public Optional<Publication> cancellation(String orderId) {
    return client
        .sql(CANCELLATION)
        .param("orderId", orderId)
        .query((row, number) -> Objects.requireNonNull(Publication.of(row)))
        .optional();
  }
}
