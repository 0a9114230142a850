package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.deadline.OrderCreated;
import io.ordertimeout.orders.deadline.OrderEventBatch;
import io.ordertimeout.orders.deadline.OrderEventStore;
import io.ordertimeout.orders.deadline.OrderSettled;
import io.ordertimeout.orders.deadline.RecordedBatch;
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
 * Takes in a batch of records: decode, store, then tell the wheels. When it returns, everything is
 * committed in Postgres or acknowledged as a dead letter, and the offsets may be committed; when it
 * throws, the batch may be taken in again. Thread-safe.
 */
@Component
class BatchIntake {

  private static final Logger log = LoggerFactory.getLogger(BatchIntake.class);

  private static final String UNDECODABLE = "a payment or closing of it cannot be decoded";

  /**
   * A record and what it came to.
   *
   * @param span of a created order that is traced
   */
  private record Taken(
      ConsumerRecord<byte[], byte[]> record, DecodedRecord decoded, @Nullable OrderSpan span) {

    boolean isEvent() {
      return decoded.created() != null || decoded.settled() != null;
    }

    @Nullable OrderCreated created() {
      OrderCreated created = decoded.created();
      return created == null || span == null ? created : created.tracedBy(span.traceparent());
    }

    /** Of an attempt that fails nothing is told: the next one has a span of its own. */
    void stored() {
      if (span != null) {
        span.end();
      }
    }
  }

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
   * Takes in records, and with them the positions behind them.
   *
   * @param nextOffsets by partition, the offset up to which the records reach
   * @param layout the topics that the offsets are of
   */
  void take(
      Iterable<ConsumerRecord<byte[], byte[]>> records,
      Map<TopicPartition, Long> nextOffsets,
      InputTopics.Layout layout)
      throws InterruptedException {
    List<Taken> events = new ArrayList<>();
    List<Taken> faulty = new ArrayList<>();
    int replacedFields = 0;
    for (ConsumerRecord<byte[], byte[]> record : records) {
      Taken taken = take(record);
      replacedFields += taken.decoded().replacedFields();
      if (taken.isEvent()) {
        events.add(taken);
      }
      if (taken.decoded().fault() != null) {
        faulty.add(taken);
      }
    }
    Runnable advance = () -> positions.advance(nextOffsets, layout);
    if (faulty.isEmpty()) {
      store(events, advance);
    } else {
      // Dead letters last, since a batch that cannot be stored is tried again and again; but before
      // the positions, which move past them too.
      store(events, () -> {});
      park(faulty);
      sendAway(faulty);
      transactions.executeWithoutResult(status -> advance.run());
    }
    metrics.countReplacedFields(replacedFields);
  }

  private Taken take(ConsumerRecord<byte[], byte[]> record) {
    DecodedRecord decoded = decoder.decode(record);
    OrderCreated created = decoded.created();
    OrderSpan span =
        created == null
            ? null
            : traces.startIntake(
                created.orderId(),
                record.topic(),
                record.partition(),
                record.offset(),
                record.headers());
    return new Taken(record, decoded, span);
  }

  private void park(List<Taken> faulty) {
    Map<Integer, Set<String>> inDoubt = new TreeMap<>();
    for (Taken taken : faulty) {
      String orderId = taken.decoded().orderInDoubt();
      if (orderId != null) {
        inDoubt.computeIfAbsent(taken.record().partition(), shard -> new TreeSet<>()).add(orderId);
      }
    }
    inDoubt.forEach(
        (shard, orderIds) -> {
          parked.park(orderIds, shard, UNDECODABLE);
          log.warn(
              "{} orders of shard {} are parked: a payment or closing under their key cannot be"
                  + " decoded. Publish it again as it should be, or decide them by hand",
              orderIds.size(),
              shard);
        });
  }

  private void sendAway(List<Taken> faulty) throws InterruptedException {
    List<DeadLetterPublisher.Sent> sent = new ArrayList<>();
    for (Taken taken : faulty) {
      sent.add(deadLetters.send(taken.record(), String.valueOf(taken.decoded().fault())));
    }
    await(sent);
  }

  /**
   * Stores events in the order of their arrival. Those that Postgres refuses one of are stored in
   * halves, until that one is alone.
   *
   * @param andThen what else belongs in the transaction of the last of them
   */
  private void store(List<Taken> events, Runnable andThen) throws InterruptedException {
    RecordedBatch recorded;
    try {
      recorded = transactions.execute(status -> record(events, andThen));
    } catch (DataAccessException | TransactionException e) {
      Optional<String> refusal = events.isEmpty() ? Optional.empty() : RejectedRow.reason(e);
      if (refusal.isEmpty()) {
        throw e;
      }
      if (events.size() == 1) {
        putAside(events.get(0), refusal.get());
        transactions.executeWithoutResult(status -> andThen.run());
      } else {
        int half = events.size() / 2;
        store(events.subList(0, half), () -> {});
        store(events.subList(half, events.size()), andThen);
      }
      return;
    }
    events.forEach(Taken::stored);
    shards.arm(recorded.toArm());
    shards.disarm(recorded.toDisarm());
    relay.publish(recorded.conflicts());
    metrics.count(recorded);
    warnOfMisplaced(recorded.misplaced());
  }

  private RecordedBatch record(List<Taken> events, Runnable andThen) {
    List<OrderCreated> created = new ArrayList<>();
    List<OrderSettled> settled = new ArrayList<>();
    for (Taken event : events) {
      OrderCreated order = event.created();
      if (order != null) {
        created.add(order);
      }
      if (event.decoded().settled() != null) {
        settled.add(event.decoded().settled());
      }
    }
    RecordedBatch recorded = store.record(new OrderEventBatch(created, settled));
    andThen.run();
    return recorded;
  }

  private void putAside(Taken event, String refusal) throws InterruptedException {
    OrderSettled settled = event.decoded().settled();
    String fault = "Postgres refused it: " + Printable.of(refusal);
    if (settled == null) {
      fault += "; the order is not watched";
    } else {
      // It may have been paid: whatever becomes of the record, the order must not be cancelled.
      parked.park(Set.of(settled.orderId()), settled.shard(), fault);
      fault += "; its order is parked, so not cancelled";
    }
    await(List.of(deadLetters.send(event.record(), fault)));
  }

  private void await(List<DeadLetterPublisher.Sent> putAside) throws InterruptedException {
    for (DeadLetterPublisher.Sent sent : putAside) {
      deadLetters.await(sent);
      metrics.countDeadLetter(event(sent.record().topic()));
    }
    if (!putAside.isEmpty()) {
      ConsumerRecord<?, ?> last = putAside.get(putAside.size() - 1).record();
      log.warn(
          "{} records went to the dead-letter topic; the last came from {}-{} at offset {}",
          putAside.size(),
          last.topic(),
          last.partition(),
          last.offset());
    }
  }

  private static void warnOfMisplaced(int misplaced) {
    if (misplaced > 0) {
      log.warn(
          "{} payments or closings came from another partition than their order's. They were"
              + " applied, but a payment that is read late there cannot hold back its order's"
              + " expiry: let all producers of the input topics partition by the same function",
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
