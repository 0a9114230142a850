package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.intake.FaultyRecords.Faulty;
import io.ordertimeout.orders.intake.HeldBackPartitions.HeldBack;
import io.ordertimeout.orders.intake.UnusableTopics.Decoded;
import io.ordertimeout.orders.intake.UnusableTopics.Unusable;
import io.ordertimeout.orders.intake.deadletter.DeadLetterPublisher.Sent;
import io.ordertimeout.orders.intake.decoding.DecodedRecord;
import io.ordertimeout.orders.intake.decoding.EventDecoder;
import io.ordertimeout.orders.intake.decoding.LogSanitizer;
import io.ordertimeout.orders.order.OrderChange;
import io.ordertimeout.orders.order.OrderCreated;
import io.ordertimeout.orders.order.OrderEventBatch;
import io.ordertimeout.orders.order.OrderEventStore;
import io.ordertimeout.orders.order.OrderSettled;
import io.ordertimeout.orders.order.StoredBatch;
import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.platform.kafka.PartitionCounts;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.platform.postgres.RejectedRow;
import io.ordertimeout.orders.platform.tracing.OrderSpan;
import io.ordertimeout.orders.platform.tracing.OrderTraces;
import io.ordertimeout.orders.position.ReadBackState;
import io.ordertimeout.orders.position.ReflectedServer;
import io.ordertimeout.orders.position.StoredPositions;
import io.ordertimeout.orders.relay.OutboxRelay;
import io.ordertimeout.orders.shard.Shards;
import io.ordertimeout.orders.suspension.PaymentAttempt;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Takes in batches of records: decodes them, stores their events, and then notifies the wheels.
 * When {@link #ingest} returns, everything is committed in Postgres or acknowledged as a dead
 * letter, except from the records on that it returns, and the offsets may be committed. When it
 * throws, the batch may be taken in again. Thread-safe.
 */
@Component
class BatchIntake {

  /** As many rejected rows may be a coincidence, whatever their share of a batch. */
  private static final int ACCEPTABLE_REJECTIONS = 10;

  private static final String UNDECODABLE =
      "a payment, closure, payment attempt or change of it cannot be decoded";

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

    @Nullable PaymentAttempt attempt() {
      return decoded instanceof DecodedRecord.Attempted attempted ? attempted.event() : null;
    }

    @Nullable OrderChange change() {
      return decoded instanceof DecodedRecord.Changed changed ? changed.change() : null;
    }

    /** The order that must not be cancelled without the event; null if there is none. */
    @Nullable String orderInDoubt() {
      OrderSettled settled = settled();
      if (settled != null) {
        return settled.orderId();
      }
      PaymentAttempt attempt = attempt();
      if (attempt != null) {
        return attempt.orderId();
      }
      OrderChange change = change();
      return change == null ? null : change.orderId();
    }

    /** Ends the span. That of a failed attempt never ends: the next attempt has its own. */
    void stored() {
      if (span != null) {
        span.end();
      }
    }
  }

  /**
   * What the records of a batch contain.
   *
   * @param events in the order of their arrival
   * @param faulty records that are unusable, or partly so
   */
  private record Contents(
      List<Event> events, List<Faulty> faulty, List<String> replacedFields, int ignored) {}

  /** Events that were stored together, and what came of it. */
  private record Part(List<Event> events, StoredBatch stored) {}

  /**
   * What a transaction has stored.
   *
   * @param parts in the order of their events
   * @param unacknowledged the first dead letter of each partition that is not acknowledged
   */
  private record Stored(List<Part> parts, Map<TopicPartition, Sent> unacknowledged) {}

  private final EventDecoder decoder;
  private final OrderTraces traces;
  private final UnusableTopics unusableTopics;
  private final FaultyRecords faultyRecords;
  private final OrderEventStore store;
  private final StoredPositions positions;
  private final ReadBackState readBack;
  private final PartitionCounts partitionCounts;
  private final TransactionTemplate transactions;
  private final JdbcTemplate jdbc;
  private final Shards shards;
  private final OutboxRelay relay;
  private final IntakeMetrics metrics;
  private final DatabaseClock clock;

  BatchIntake(
      EventDecoder decoder,
      OrderTraces traces,
      UnusableTopics unusableTopics,
      FaultyRecords faultyRecords,
      OrderEventStore store,
      StoredPositions positions,
      ReadBackState readBack,
      PartitionCounts partitionCounts,
      TransactionTemplate transactions,
      JdbcTemplate jdbc,
      Shards shards,
      OutboxRelay relay,
      IntakeMetrics metrics,
      DatabaseClock clock) {
    this.decoder = decoder;
    this.traces = traces;
    this.unusableTopics = unusableTopics;
    this.faultyRecords = faultyRecords;
    this.store = store;
    this.positions = positions;
    this.readBack = readBack;
    this.partitionCounts = partitionCounts;
    this.transactions = transactions;
    this.jdbc = jdbc;
    this.shards = shards;
    this.relay = relay;
    this.metrics = metrics;
    this.clock = clock;
  }

  /**
   * Takes in records and the positions behind them.
   *
   * @param nextOffsets the positions to advance: the offset up to which the records reach, by
   *     partition
   * @param known the stored positions of these partitions and the server that contains them, as the
   *     caller knows them
   * @param layout the topics that the offsets belong to
   * @return the partitions that end at an unusable record which is not dead-lettered yet, or must
   *     not be, or at a record that cannot be decoded at present
   * @throws SystemicRejectionException if Postgres rejects most of a large batch
   * @throws io.ordertimeout.orders.position.PositionsChangedException if Postgres contains other
   *     positions
   */
  Map<TopicPartition, HeldBack> ingest(
      Iterable<ConsumerRecord<byte[], byte[]>> records,
      Map<TopicPartition, Long> nextOffsets,
      KnownPositions known,
      InputTopics.Layout layout) {
    Map<TopicPartition, HeldBack> undecodable = new HashMap<>();
    List<Decoded> batch = decode(records, undecodable);
    Map<TopicPartition, Unusable> stops = unusableTopics.stopsIn(batch);
    batch.removeIf(record -> isBehind(record, stops.get(record.partition())));
    Map<TopicPartition, Long> reachable = new HashMap<>(nextOffsets);
    undecodable.forEach(
        (partition, held) -> reachable.put(partition, reached(held.offset(), partition, known)));
    // A stop is before the record that cannot be decoded at present: what is behind was left out.
    stops.forEach(
        (partition, first) -> reachable.put(partition, reached(first.offset(), partition, known)));
    Map<TopicPartition, HeldBack> heldBack = store(batch, reachable, known, layout);
    unusableTopics.takenIn(batch);
    stops.forEach(
        (partition, first) ->
            heldBack.putIfAbsent(
                partition, HeldBack.unusableTopic(first.offset(), first.problem())));
    undecodable.forEach(heldBack::putIfAbsent);
    return heldBack;
  }

  private static boolean isBehind(Decoded record, @Nullable Unusable first) {
    return first != null && record.record().offset() >= first.offset();
  }

  /**
   * Decodes records, except from the first one of a partition on that cannot be decoded at present.
   *
   * @param undecodable receives these partitions
   */
  private List<Decoded> decode(
      Iterable<ConsumerRecord<byte[], byte[]>> records, Map<TopicPartition, HeldBack> undecodable) {
    Instant now = clock.now();
    List<Decoded> batch = new ArrayList<>();
    for (ConsumerRecord<byte[], byte[]> record : records) {
      TopicPartition partition = new TopicPartition(record.topic(), record.partition());
      if (!undecodable.containsKey(partition)) {
        try {
          batch.add(new Decoded(record, decoder.decode(record, now)));
        } catch (RetriableException e) {
          undecodable.put(
              partition, HeldBack.decodingOutage(record.offset(), StepHealth.describe(e)));
        }
      }
    }
    return batch;
  }

  private static long reached(long offset, TopicPartition partition, KnownPositions known) {
    return Math.max(offset, known.offset(partition));
  }

  /**
   * Stores records and advances the positions; returns the partitions that wait for a dead letter.
   */
  private Map<TopicPartition, HeldBack> store(
      List<Decoded> batch,
      Map<TopicPartition, Long> nextOffsets,
      KnownPositions known,
      InputTopics.Layout layout) {
    Contents contents = contents(batch);
    ReflectedServer reflected = readBack.reflected(known.requireServer());
    Stored stored;
    try {
      stored = store(contents, false, nextOffsets, known, layout);
    } catch (DataAccessException | TransactionException e) {
      if (contents.events.isEmpty() || RejectedRow.reason(e).isEmpty()) {
        throw e;
      }
      stored = store(contents, true, nextOffsets, known, layout);
    }
    stored.parts.forEach(part -> announce(part, reflected));
    metrics.countReplaced(contents.replacedFields);
    metrics.countIgnored(contents.ignored);
    return faultyRecords.publishEventually(stored.unacknowledged);
  }

  private Contents contents(List<Decoded> batch) {
    List<Event> events = new ArrayList<>();
    List<Faulty> faulty = new ArrayList<>();
    List<String> replacedFields = new ArrayList<>();
    int ignored = 0;
    for (Decoded each : batch) {
      ConsumerRecord<byte[], byte[]> record = each.record();
      DecodedRecord decoded = each.result();
      if (decoded instanceof DecodedRecord.Created created) {
        events.add(new Event(record, decoded, span(created.order(), record)));
        replacedFields.addAll(created.replacedFields());
      } else if (decoded instanceof DecodedRecord.Settled settled) {
        events.add(new Event(record, decoded, null));
        replacedFields.addAll(settled.replacedFields());
        if (settled.fault() != null) {
          faulty.add(new Faulty(record, settled.fault(), Set.of(), ""));
        }
      } else if (decoded instanceof DecodedRecord.Attempted attempted) {
        events.add(new Event(record, decoded, null));
        if (attempted.fault() != null) {
          faulty.add(new Faulty(record, attempted.fault(), Set.of(), ""));
        }
      } else if (decoded instanceof DecodedRecord.Changed changed) {
        events.add(new Event(record, decoded, null));
        replacedFields.addAll(changed.replacedFields());
        if (changed.fault() != null) {
          faulty.add(new Faulty(record, changed.fault(), Set.of(), ""));
        }
      } else if (decoded instanceof DecodedRecord.Undecodable undecodable) {
        faulty.add(
            new Faulty(record, undecodable.fault(), undecodable.ordersInDoubt(), UNDECODABLE));
      } else {
        ignored++;
      }
    }
    return new Contents(events, faulty, replacedFields, ignored);
  }

  private @Nullable OrderSpan span(OrderCreated order, ConsumerRecord<?, ?> record) {
    return traces.startIntake(
        order.orderId(), record.topic(), record.partition(), record.offset(), record.headers());
  }

  /**
   * Stores everything that belongs to a batch in one transaction.
   *
   * @param halved whether events are stored in parts, so that those that Postgres rejects become
   *     faulty; otherwise all are stored or none
   */
  private Stored store(
      Contents contents,
      boolean halved,
      Map<TopicPartition, Long> nextOffsets,
      KnownPositions known,
      InputTopics.Layout layout) {
    return Objects.requireNonNull(
        transactions.execute(
            status -> {
              List<Part> parts = new ArrayList<>();
              List<Faulty> faulty = new ArrayList<>(contents.faulty);
              if (halved) {
                jdbc.execute("set constraints all immediate");
                faulty.addAll(storeInHalves(contents.events, parts));
              } else {
                parts.add(store(contents.events));
              }
              // Dead letters come after the events, because a batch that cannot be stored is
              // retried, and before the positions, which move past them too.
              Map<TopicPartition, Sent> unacknowledged = faultyRecords.parkAndPublish(faulty);
              Map<TopicPartition, Long> reached = new HashMap<>(nextOffsets);
              unacknowledged.forEach(
                  (partition, letter) ->
                      reached.put(
                          partition, reached(FaultyRecords.offset(letter), partition, known)));
              positions.advance(reached, known.offsets(), known.requireServer(), layout);
              return new Stored(parts, unacknowledged);
            }));
  }

  private Part store(List<Event> events) {
    List<OrderCreated> created = new ArrayList<>();
    List<OrderSettled> settled = new ArrayList<>();
    List<PaymentAttempt> attempts = new ArrayList<>();
    List<OrderChange> changes = new ArrayList<>();
    for (Event event : events) {
      OrderCreated order = event.created();
      if (order != null) {
        created.add(order);
      }
      OrderSettled settlement = event.settled();
      if (settlement != null) {
        settled.add(settlement);
      }
      PaymentAttempt attempt = event.attempt();
      if (attempt != null) {
        attempts.add(attempt);
      }
      OrderChange change = event.change();
      if (change != null) {
        changes.add(change);
      }
    }
    return new Part(events, store.store(new OrderEventBatch(created, settled, attempts, changes)));
  }

  /**
   * Stores events, of which Postgres rejects some: halves them until each of those is alone.
   *
   * @param parts receives what is stored
   * @return the records of those that are rejected
   */
  private List<Faulty> storeInHalves(List<Event> events, List<Part> parts) {
    List<Faulty> rejected = new ArrayList<>();
    Deque<List<Event>> rest = new ArrayDeque<>(List.of(events));
    while (!rest.isEmpty()) {
      List<Event> part = rest.pop();
      jdbc.execute("savepoint part");
      try {
        parts.add(store(part));
      } catch (DataAccessException e) {
        String rejection = RejectedRow.reason(e).orElseThrow(() -> e);
        jdbc.execute("rollback to savepoint part");
        if (part.size() > 1) {
          rest.push(part.subList(part.size() / 2, part.size()));
          rest.push(part.subList(0, part.size() / 2));
        } else {
          rejected.add(rejected(part.get(0), rejection));
          if (rejected.size() > ACCEPTABLE_REJECTIONS && rejected.size() > events.size() / 2) {
            throw new SystemicRejectionException(rejected.size(), events.size(), rejection);
          }
        }
      }
      jdbc.execute("release savepoint part");
    }
    return rejected;
  }

  private static Faulty rejected(Event event, String rejection) {
    String fault = "Postgres rejected it: " + LogSanitizer.of(rejection);
    String orderInDoubt = event.orderInDoubt();
    return orderInDoubt == null
        ? new Faulty(event.record(), fault + "; the order is not watched", Set.of(), "")
        // The order may have been paid, so it must not be cancelled.
        : new Faulty(
            event.record(),
            fault + "; its order is parked, so not cancelled",
            Set.of(orderInDoubt),
            fault);
  }

  /** Has the other steps learn of what is committed. */
  private void announce(Part part, ReflectedServer reflected) {
    part.events.forEach(Event::stored);
    StoredBatch stored = part.stored;
    // Counted first, because the circuit breaker compares cancellations with registrations, and an
    // order that is due on arrival may be decided as soon as it is armed.
    metrics.count(stored);
    shards.arm(stored.toArm());
    shards.disarm(stored.toDisarm());
    relay.publish(stored.conflicts(), reflected);
    if (stored.misplaced() > 0) {
      partitionCounts.misplacedRecorded();
    }
  }
}
