package io.ordertimeout.orders.benchmarks.contender;

import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * A shop's table of orders, and what happens to an order that expires: it is cancelled if it is not
 * paid, and then published. A crash in between loses the event, which the order service never does.
 * Thread-safe.
 */
final class ShopOrders {

  private final JdbcClient client;
  private final Producer<String, byte[]> producer;
  private final String topic;

  ShopOrders(DataSource dataSource, Producer<String, byte[]> producer, String topic) {
    this.client = JdbcClient.create(dataSource);
    this.producer = producer;
    this.topic = topic;
  }

  void createTable() {
    client
        .sql(
            """
            create table shop_order (
              order_id text collate "C" primary key,
              state    text        not null,
              deadline timestamptz not null
            ) with (fillfactor = 90)
            """)
        .update();
    client
        .sql("create index shop_order_pending on shop_order (deadline) where state = 'PENDING'")
        .update();
  }

  void add(Map<String, Instant> deadlines) {
    client
        .sql(
            """
            insert into shop_order (order_id, state, deadline)
            select id, 'PENDING', deadline
            from unnest(:ids::text[], :deadlines::timestamptz[]) as o(id, deadline)
            on conflict do nothing
            """)
        .param("ids", deadlines.keySet().toArray(String[]::new))
        .param(
            "deadlines",
            deadlines.values().stream()
                .map(deadline -> deadline.atOffset(ZoneOffset.UTC).toString())
                .toArray(String[]::new))
        .update();
  }

  void pay(Collection<String> orderIds) {
    client
        .sql(
            "update shop_order set state = 'PAID' where order_id = any(:ids::text[]) and state = 'PENDING'")
        .param("ids", orderIds.toArray(String[]::new))
        .update();
  }

  /** Cancels an order that has expired, if it is not paid. */
  void expire(String orderId) {
    int changed =
        client
            .sql(
                "update shop_order set state = 'CANCELLED' where order_id = :id and state = 'PENDING'")
            .param("id", orderId)
            .update();
    if (changed > 0) {
      publish(List.of(orderId));
    }
  }

  /** Cancels at most {@code limit} of the orders that are due; returns how many. */
  int expireDue(int limit) {
    List<String> cancelled =
        client
            .sql(
                """
                update shop_order set state = 'CANCELLED'
                where order_id in (
                  select order_id from shop_order
                  where state = 'PENDING' and deadline <= now()
                  order by deadline
                  limit :limit
                  for update skip locked
                )
                returning order_id
                """)
            .param("limit", limit)
            .query(String.class)
            .list();
    publish(cancelled);
    return cancelled.size();
  }

  private void publish(List<String> orderIds) {
    List<Future<RecordMetadata>> sent =
        orderIds.stream()
            .map(id -> producer.send(new ProducerRecord<>(topic, id, new byte[0])))
            .toList();
    try {
      for (Future<RecordMetadata> each : sent) {
        each.get();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("not published", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
