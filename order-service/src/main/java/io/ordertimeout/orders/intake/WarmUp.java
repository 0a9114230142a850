package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.order.Amount;
import io.ordertimeout.orders.order.DueOrderDecision;
import io.ordertimeout.orders.order.OrderCreated;
import io.ordertimeout.orders.order.OrderEventBatch;
import io.ordertimeout.orders.order.OrderEventStore;
import io.ordertimeout.orders.order.OrderSettled.Paid;
import io.ordertimeout.orders.order.OutboxStore;
import io.ordertimeout.orders.order.OutboxStore.Acknowledged;
import io.ordertimeout.orders.order.PendingOrder;
import io.ordertimeout.orders.order.Watermark;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderCancelled;
import io.ordertimeout.orders.platform.postgres.TableCopies;
import io.ordertimeout.orders.position.ReadBackState;
import io.ordertimeout.orders.position.ReflectedServer;
import io.ordertimeout.orders.relay.EventSerializer;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Exercises the way of an event before the first event is read, so that the first orders that come
 * due are not decided by a JVM that is still interpreting. Orders that do not exist are stored,
 * paid and cancelled in copies of the tables that only their transaction sees, and that it takes
 * with it when it is rolled back.
 */
@Component
class WarmUp {

  private static final Logger log = LoggerFactory.getLogger(WarmUp.class);

  private static final int SHARD = 0;
  private static final int BATCH = 500;

  private final TransactionTemplate transactions;
  private final TableCopies copies;
  private final ReadBackState readBack;
  private final OrderEventStore store;
  private final DueOrderDecision decision;
  private final EventSerializer serializer;
  private final OutboxStore outbox;
  private final String topic;
  private final Duration duration;

  WarmUp(
      TransactionTemplate transactions,
      TableCopies copies,
      ReadBackState readBack,
      OrderEventStore store,
      DueOrderDecision decision,
      EventSerializer serializer,
      OutboxStore outbox,
      OrderTimeoutProperties properties) {
    this.transactions = transactions;
    this.copies = copies;
    this.readBack = readBack;
    this.store = store;
    this.decision = decision;
    this.serializer = serializer;
    this.outbox = outbox;
    this.topic = properties.topics().cancelled();
    this.duration = properties.intake().warmUp();
  }

  /**
   * Takes as long as configured. If Postgres refuses, for example because the service's user may
   * not create temporary tables, or if the schema registry does not answer, the service starts
   * cold.
   */
  void run() {
    if (duration.isZero()) {
      return;
    }
    try {
      serializer.prepare(topic).join();
      int cancelled =
          Objects.requireNonNull(
              transactions.execute(
                  status -> {
                    status.setRollbackOnly();
                    return exercise();
                  }));
      log.info("Warm-up processed {} dummy orders within {}", cancelled, duration);
    } catch (RuntimeException e) {
      log.warn(
          "No warm-up, so the first orders may be cancelled late: {}",
          NestedExceptionUtils.getMostSpecificCause(e).toString());
    }
  }

  private int exercise() {
    long end = System.nanoTime() + duration.toNanos();
    Instant time = copies.create();
    // Nothing was published before the copies were made.
    ReflectedServer reflected = ReflectedServer.entirely(readBack.answering());
    int cancelled = 0;
    int first = 0;
    do {
      cancelled += exercise(first, time, reflected);
      first += BATCH;
    } while (System.nanoTime() < end && !Thread.currentThread().isInterrupted());
    return cancelled;
  }

  /** Returns how many of a batch of orders were cancelled; half of them are paid. */
  private int exercise(int first, Instant time, ReflectedServer reflected) {
    List<OrderCreated> orders = new ArrayList<>();
    List<Paid> payments = new ArrayList<>();
    for (int i = first; i < first + BATCH; i++) {
      String orderId = "warm-up-" + i;
      orders.add(
          new OrderCreated(
              orderId,
              SHARD,
              time.minusSeconds(60),
              time.minusSeconds(1),
              "DEFAULT",
              "web",
              "card",
              new Amount(BigDecimal.TEN, "EUR"),
              null));
      if (i % 2 == 0) {
        payments.add(new Paid(orderId, SHARD, time, "payment-" + i, time));
      }
    }
    long[] pending =
        store.store(new OrderEventBatch(orders, List.of())).toArm().stream()
            .mapToLong(PendingOrder::id)
            .toArray();
    store.store(new OrderEventBatch(List.of(), List.copyOf(payments)));
    List<OrderCancelled> events =
        decision.cancel(SHARD, pending, new Watermark(time, Map.of(), Map.of(), true), reflected);
    events.forEach(serializer::serialize);
    TopicPartition partition = new TopicPartition(topic, SHARD);
    outbox.record(
        events.stream()
            .map(event -> new Acknowledged(event, partition, event.orderRow()))
            .toList());
    return events.size();
  }
}
