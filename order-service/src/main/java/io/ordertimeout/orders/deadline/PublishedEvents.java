package io.ordertimeout.orders.deadline;

import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxRows;
import java.math.BigDecimal;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * Records the publication of events: deletes their outbox rows and stores the time with their
 * orders and conflicts, in one statement. Thread-safe.
 */
@Repository
public class PublishedEvents {

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
        update order_deadline d set published_at = clock_timestamp()
        from published p
        where p.kind = 'ORDER_CANCELLED' and d.order_id = p.order_id
        returning d.currency, d.amount
      )
      select currency, sum(amount) as amount from cancelled
      where currency is not null and amount is not null
      group by currency
      """
          .formatted(OutboxRows.DELETE);

  private final JdbcClient client;

  PublishedEvents(JdbcClient client) {
    this.client = client;
  }

  /**
   * Records that Kafka has acknowledged the events.
   *
   * @return the amounts of the cancelled orders, by currency
   */
  public Map<String, BigDecimal> record(Collection<OutboxEvent> events) {
    Map<String, BigDecimal> amounts = new HashMap<>();
    client
        .sql(RECORD)
        .param("shards", OutboxRows.shards(events))
        .param("ids", OutboxRows.ids(events))
        .query(
            row -> {
              amounts.put(row.getString("currency"), row.getBigDecimal("amount"));
            });
    return amounts;
  }
}
