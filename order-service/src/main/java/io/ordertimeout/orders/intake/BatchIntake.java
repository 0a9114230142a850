package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.deadline.OrderCreated;
import io.ordertimeout.orders.deadline.OrderEventBatch;
import io.ordertimeout.orders.deadline.OrderEventStore;
import io.ordertimeout.orders.deadline.OrderSettled;
import io.ordertimeout.orders.deadline.StoredBatch;
import io.ordertimeout.orders.intake.deadletter.DeadLetterPublisher;
import io.ordertimeout.orders.intake.decoding.DecodedRecord;
import io.ordertimeout.orders.intake.decoding.EventDecoder;
import io.ordertimeout.orders.intake.decoding.Printable;
import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.platform.kafka.StoredPositions;
import io.ordertimeout.orders.platform.postgres.RejectedRow;
import io.ordertimeout.orders.platform.tracing.OrderSpan;
import io.ordertimeout.orders.platform.tracing.OrderTraces;
import io.ordertimeout.orders.relay.OutboxRelay;
import io.ordertimeout.orders.shard.Shards;
import io.ordertimeout.orders.suspension.ParkedOrders;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Takes in batches of records: decodes them, stores their events, and then notifies the wheels.
 * When {@link #takeIn} returns, everything is committed in Postgres or acknowledged as a dead
 * letter, and the offsets may be committed. When it throws, the batch may be taken in again.
 * Thread-safe.
 */
@Component
class BatchIntake {

  private static final Logger log = LoggerFactory.getLogger(BatchIntake.class);

  private static final String UNDECODABLE = "a payment or closing of it cannot be decoded";

  /** A record that holds an event, and the span of a created order that is traced. */
  private record Event(
      ConsumerRecord<byte[], byte[]> record, DecodedRecord decoded, @Nullable OrderSpan span) {

    @Nullable OrderCreated created() {
      if (decoded instanceof DecodedRecord.Created created) {
        return span == null ? created.order() : created.order().tracedBy(span.traceparent());
      }
      return null;
    }

    @Nullable OrderSettled settled() {
      return decoded instanceof DecodedRecord.Settled settled ? settled.event() : null;
    }

    /** Ends the span. That of a failed attempt never ends: the next attempt has its own. */
    void stored() {
      if (span != null) {
        span.end();
      }
    }
  }

  /** A record that becomes a dead letter. */
  private record Faulty(
      ConsumerRecord<byte[], byte[]> record, String fault, @Nullable String orderInDoubt) {}

  private final EventDecoder decoder;
  private final OrderTraces traces;
  private final DeadLetterPublisher deadLetters;
  private final OrderEventStore store;
  private final StoredPositions positions;
  private final ParkedOrders parked;
  private final TransactionTemplate transactions;
  private final Shards shards;
  private final OutboxRelay relay;
  private final IntakeMetrics metrics;
  private final OrderTimeoutProperties.Topics topics;

  BatchIntake(
      EventDecoder decoder,
      OrderTraces traces,
      DeadLetterPublisher deadLetters,
      OrderEventStore store,
      StoredPositions positions,
      ParkedOrders parked,
      TransactionTemplate transactions,
      Shards shards,
      OutboxRelay relay,
      IntakeMetrics metrics,
      OrderTimeoutProperties properties) {
    this.decoder = decoder;
    this.traces = traces;
    this.deadLetters = deadLetters;
    this.store = store;
    this.positions = positions;
    this.parked = parked;
    this.transactions = transactions;
    this.shards = shards;
    this.relay = relay;
    this.metrics = metrics;
    this.topics = properties.topics();
  }

  /**
   * Takes in records and the positions behind them.
   *
   * @param nextOffsets the offset up to which the records reach, by partition
   * @param layout the topics that the offsets belong to
   */
  void takeIn(
      Iterable<ConsumerRecord<byte[], byte[]>> records,
      Map<TopicPartition, Long> nextOffsets,
      InputTopics.Layout layout)
      throws InterruptedException {
    List<Event> events = new ArrayList<>();
    List<Faulty> faulty = new ArrayList<>();
    int replacedFields = 0;
    for (ConsumerRecord<byte[], byte[]> record : records) {
      DecodedRecord decoded = decoder.decode(record);
      if (decoded instanceof DecodedRecord.Created created) {
        events.add(new Event(record, decoded, span(created.order(), record)));
      } else if (decoded instanceof DecodedRecord.Settled settled) {
        events.add(new Event(record, decoded, null));
        replacedFields += settled.replacedFields();
        if (settled.fault() != null) {
          faulty.add(new Faulty(record, settled.fault(), null));
        }
      } else if (decoded instanceof DecodedRecord.Undecodable undecodable) {
        faulty.add(new Faulty(record, undecodable.fault(), undecodable.orderInDoubt()));
      }
    }
    Runnable advance = () -> positions.advance(nextOffsets, layout);
    if (faulty.isEmpty()) {
      store(events, advance);
    } else {
      // Dead letters come after the events, because a batch that cannot be stored is retried, and
      // before the positions, which move past them too.
      store(events, () -> {});
      park(faulty);
      publishDeadLetters(faulty);
      transactions.executeWithoutResult(status -> advance.run());
    }
    metrics.countReplacedFields(replacedFields);
  }

  private @Nullable OrderSpan span(OrderCreated order, ConsumerRecord<?, ?> record) {
    return traces.startIntake(
        order.orderId(), record.topic(), record.partition(), record.offset(), record.headers());
  }

  private void park(List<Faulty> faulty) {
    Map<Integer, Set<String>> inDoubt = new TreeMap<>();
    for (Faulty letter : faulty) {
      if (letter.orderInDoubt() != null) {
        inDoubt
            .computeIfAbsent(letter.record().partition(), shard -> new TreeSet<>())
            .add(letter.orderInDoubt());
      }
    }
    inDoubt.forEach(
        (shard, orderIds) -> {
          parked.park(orderIds, shard, UNDECODABLE);
          log.warn(
              "{} orders of shard {} are parked: a payment or closing under their key cannot be"
                  + " decoded. Publish it again in a usable form, or decide the orders by hand",
              orderIds.size(),
              shard);
        });
  }

  private void publishDeadLetters(List<Faulty> faulty) throws InterruptedException {
    List<DeadLetterPublisher.Sent> sent = new ArrayList<>();
    for (Faulty letter : faulty) {
      sent.add(deadLetters.send(letter.record(), letter.fault()));
    }
    await(sent);
  }

  /**
   * Stores events in the order of their arrival. If Postgres rejects one of them, halves them until
   * that one is alone.
   *
   * @param andThen what else belongs in the transaction of the last event
   */
  private void store(List<Event> events, Runnable andThen) throws InterruptedException {
    StoredBatch stored;
    try {
      stored = transactions.execute(status -> storeNow(events, andThen));
    } catch (DataAccessException | TransactionException e) {
      Optional<String> rejection = events.isEmpty() ? Optional.empty() : RejectedRow.reason(e);
      if (rejection.isEmpty()) {
        throw e;
      }
      if (events.size() == 1) {
        deadLetterRejected(events.get(0), rejection.get());
        transactions.executeWithoutResult(status -> andThen.run());
      } else {
        int half = events.size() / 2;
        store(events.subList(0, half), () -> {});
        store(events.subList(half, events.size()), andThen);
      }
      return;
    }
    events.forEach(Event::stored);
    shards.arm(stored.toArm());
    shards.disarm(stored.toDisarm());
    relay.publish(stored.conflicts());
    metrics.count(stored);
    warnOfMisplaced(stored.misplaced());
  }

  private StoredBatch storeNow(List<Event> events, Runnable andThen) {
    List<OrderCreated> created = new ArrayList<>();
    List<OrderSettled> settled = new ArrayList<>();
    for (Event event : events) {
      OrderCreated order = event.created();
      if (order != null) {
        created.add(order);
      }
      OrderSettled settlement = event.settled();
      if (settlement != null) {
        settled.add(settlement);
      }
    }
    StoredBatch stored = store.store(new OrderEventBatch(created, settled));
    andThen.run();
    return stored;
  }

  private void deadLetterRejected(Event event, String rejection) throws InterruptedException {
    OrderSettled settled = event.settled();
    String fault = "Postgres rejected it: " + Printable.of(rejection);
    if (settled == null) {
      fault += "; the order is not watched";
    } else {
      // The order may have been paid, so it must not be cancelled.
      parked.park(Set.of(settled.orderId()), settled.shard(), fault);
      fault += "; its order is parked, so not cancelled";
    }
    await(List.of(deadLetters.send(event.record(), fault)));
  }

  private void await(List<DeadLetterPublisher.Sent> letters) throws InterruptedException {
    for (DeadLetterPublisher.Sent letter : letters) {
      deadLetters.await(letter);
      metrics.countDeadLetter(event(letter.record().topic()));
    }
    if (!letters.isEmpty()) {
      ConsumerRecord<?, ?> last = letters.get(letters.size() - 1).record();
      log.warn(
          "{} records were dead-lettered; the last came from {}-{} at offset {}",
          letters.size(),
          last.topic(),
          last.partition(),
          last.offset());
    }
  }

  private static void warnOfMisplaced(int misplaced) {
    if (misplaced > 0) {
      log.warn(
          "{} payments or closings came from another partition than their order's. They were"
              + " applied, but a payment that is read late there cannot delay its order's expiry:"
              + " configure all producers of the input topics with the same partitioner",
          misplaced);
    }
  }

  private String event(String topic) {
    if (topic.equals(topics.created())) {
      return "created";
    }
    return topic.equals(topics.paid()) ? "paid" : "closed";
  }
}
