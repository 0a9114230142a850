package io.ordertimeout.orders.order;

import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxRows;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.TopicPartition;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * Records the publication of events: deletes their outbox rows and stores when their cancellations
 * and conflicts were published, in one statement. Thread-safe.
 */
@Repository
public class PublishedEvents {

  /**
   * An event that Kafka has acknowledged.
   *
   * @param partition where it was published
   * @param offset its offset there; -1 if the broker did not report it
   */
  public record Publication(OutboxEvent event, TopicPartition partition, long offset) {}

  private static final String RECORD =
      """
      with published as (
        %s
      ), conflict as (
        update payment_conflict c set published_at = clock_timestamp()
        from published p
        where p.kind = 'ORDER_PAYMENT_CONFLICT'
          and c.order_id = p.order_id and c.payment_id = p.payment_id
      ), cancelled as (
        -- Locked, so that no order is purged before its publication; as weakly as that needs, so that
        -- a publication and a batch of events do not wait for each other.
        select d.id, d.currency, d.amount from order_deadline d
        where d.id = any(array(select order_row from published where kind = 'ORDER_CANCELLED'))
        order by d.id
        for key share of d
      ), publication as (
        insert into published_cancellation (order_row, published_at)
        select id, clock_timestamp() from cancelled
        on conflict do nothing
      )
      select currency, sum(amount) as amount from cancelled
      where currency is not null and amount is not null
      group by currency
      """
          .formatted(OutboxRows.DELETE);

  private static final String FIND =
      """
      select published_at from published_cancellation
      where order_row = (select id from order_deadline where order_id = :orderId)
      """;

  private final JdbcClient client;

  PublishedEvents(JdbcClient client) {
    this.client = client;
  }

  /**
   * Records the publication of events.
   *
   * @return the amounts of the cancelled orders, by currency
   */
  public Map<String, BigDecimal> record(Collection<Publication> publications) {
    List<OutboxEvent> events = publications.stream().map(Publication::event).toList();
    Map<String, BigDecimal> amounts = new HashMap<>();
    client
        .sql(RECORD)
        .param("shards", events.stream().mapToInt(OutboxEvent::shard).toArray())
        .param("ids", events.stream().mapToLong(OutboxEvent::id).toArray())
        .param("kinds", OutboxRows.kinds(events))
        .param("orderIds", OutboxRows.orderIds(events))
        .param("paymentIds", OutboxRows.paymentIds(events))
        .query(
            row -> {
              amounts.put(row.getString("currency"), row.getBigDecimal("amount"));
            });
    return amounts;
  }

  /** Returns when Kafka acknowledged the order's cancellation; empty if it has not. */
  public Optional<Instant> cancellationPublishedAt(String orderId) {
    return client
        .sql(FIND)
        .param("orderId", orderId)
        .query(OffsetDateTime.class)
        .optional()
        .map(OffsetDateTime::toInstant);
  }
}
