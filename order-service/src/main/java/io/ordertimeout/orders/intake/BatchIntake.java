package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.intake.HeldBackPartitions.HeldBack;
import io.ordertimeout.orders.intake.UnusableTopics.Decoded;
import io.ordertimeout.orders.intake.UnusableTopics.Unusable;
import io.ordertimeout.orders.intake.deadletter.DeadLetterPublisher;
import io.ordertimeout.orders.intake.deadletter.DeadLetterPublisher.Sent;
import io.ordertimeout.orders.intake.decoding.DecodedRecord;
import io.ordertimeout.orders.intake.decoding.EventDecoder;
import io.ordertimeout.orders.intake.decoding.LogSanitizer;
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
import io.ordertimeout.orders.suspension.ParkedOrders;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.BinaryOperator;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
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

  private static final Logger log = LoggerFactory.getLogger(BatchIntake.class);

  /** As many rejected rows may be a coincidence, whatever their share of a batch. */
  private static final int ACCEPTABLE_REJECTIONS = 10;

  private static final String UNDECODABLE = "a payment or closure of it cannot be decoded";

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

  /**
   * A record that becomes a dead letter.
   *
   * @param parked the orders that are parked because of it
   * @param reason why they are parked
   */
  private record Faulty(
      ConsumerRecord<byte[], byte[]> record, String fault, Set<String> parked, String reason) {}

  private final EventDecoder decoder;
  private final OrderTraces traces;
  private final UnusableTopics unusableTopics;
  private final DeadLetterPublisher deadLetters;
  private final OrderEventStore store;
  private final StoredPositions positions;
  private final ReadBackState readBack;
  private final PartitionCounts partitionCounts;
  private final ParkedOrders parked;
  private final TransactionTemplate transactions;
  private final Shards shards;
  private final OutboxRelay relay;
  private final IntakeMetrics metrics;
  private final DatabaseClock clock;
  private final OrderTimeoutProperties.Topics topics;

  BatchIntake(
      EventDecoder decoder,
      OrderTraces traces,
      UnusableTopics unusableTopics,
      DeadLetterPublisher deadLetters,
      OrderEventStore store,
      StoredPositions positions,
      ReadBackState readBack,
      PartitionCounts partitionCounts,
      ParkedOrders parked,
      TransactionTemplate transactions,
      Shards shards,
      OutboxRelay relay,
      IntakeMetrics metrics,
      DatabaseClock clock,
      OrderTimeoutProperties properties) {
    this.decoder = decoder;
    this.traces = traces;
    this.unusableTopics = unusableTopics;
    this.deadLetters = deadLetters;
    this.store = store;
    this.positions = positions;
    this.readBack = readBack;
    this.partitionCounts = partitionCounts;
    this.parked = parked;
    this.transactions = transactions;
    this.shards = shards;
    this.relay = relay;
    this.metrics = metrics;
    this.clock = clock;
    this.topics = properties.topics();
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
      InputTopics.Layout layout)
      throws InterruptedException {
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
      InputTopics.Layout layout)
      throws InterruptedException {
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
      } else if (decoded instanceof DecodedRecord.Undecodable undecodable) {
        faulty.add(
            new Faulty(record, undecodable.fault(), undecodable.ordersInDoubt(), UNDECODABLE));
      } else {
        ignored++;
      }
    }
    Map<TopicPartition, HeldBack> heldBack = new HashMap<>();
    Map<TopicPartition, Long> offsets = known.offsets();
    String server = known.requireServer();
    Runnable advance = () -> positions.advance(nextOffsets, offsets, server, layout);
    Map<TopicPartition, Long> unchanged = new HashMap<>(offsets);
    unchanged.keySet().retainAll(nextOffsets.keySet());
    Runnable check = () -> positions.advance(unchanged, offsets, server, layout);
    ReflectedServer reflected = readBack.reflected(server);
    // Dead letters come after the events, because a batch that cannot be stored is retried, and
    // before the positions, which move past them too.
    String rejection = tryStore(events, faulty.isEmpty() ? advance : check, reflected);
    if (rejection != null) {
      List<Faulty> rejected = new ArrayList<>();
      storeInHalves(events, rejection, rejected, events.size(), check, reflected);
      faulty.addAll(rejected);
    }
    if (!faulty.isEmpty()) {
      park(faulty);
      heldBack = publishDeadLetters(faulty);
      Map<TopicPartition, Long> reached = new HashMap<>(nextOffsets);
      heldBack.forEach(
          (partition, held) -> reached.put(partition, reached(held.offset(), partition, known)));
      transactions.executeWithoutResult(
          status -> positions.advance(reached, offsets, server, layout));
    }
    metrics.countReplaced(replacedFields);
    metrics.countIgnored(ignored);
    return heldBack;
  }

  private @Nullable OrderSpan span(OrderCreated order, ConsumerRecord<?, ?> record) {
    return traces.startIntake(
        order.orderId(), record.topic(), record.partition(), record.offset(), record.headers());
  }

  private void park(List<Faulty> faulty) {
    Map<Integer, Map<String, Set<String>>> inDoubt = new TreeMap<>();
    for (Faulty letter : faulty) {
      if (!letter.parked().isEmpty()) {
        inDoubt
            .computeIfAbsent(letter.record().partition(), shard -> new TreeMap<>())
            .computeIfAbsent(letter.reason(), reason -> new TreeSet<>())
            .addAll(letter.parked());
      }
    }
    inDoubt.forEach(
        (shard, byReason) ->
            byReason.forEach(
                (reason, orderIds) -> {
                  parked.park(orderIds, shard, reason);
                  log.warn(
                      "{} orders of shard {} are parked: a payment or closure of them cannot be used."
                          + " Publish it again in a usable form, or decide the orders by hand",
                      orderIds.size(),
                      shard);
                }));
  }

  /** Publishes dead letters; returns the partitions in which one is not acknowledged. */
  private Map<TopicPartition, HeldBack> publishDeadLetters(List<Faulty> faulty)
      throws InterruptedException {
    List<Sent> sent =
        deadLetters.publish(
            faulty.stream()
                .map(letter -> new DeadLetterPublisher.Letter(letter.record(), letter.fault()))
                .toList());
    Map<TopicPartition, Sent> first = new HashMap<>();
    int acknowledged = 0;
    for (Sent letter : sent) {
      ConsumerRecord<?, ?> record = letter.letter().record();
      if (letter.isAcknowledged()) {
        acknowledged++;
        metrics.countDeadLetter(event(letter));
      } else {
        first.merge(
            new TopicPartition(record.topic(), record.partition()),
            letter,
            BinaryOperator.minBy(Comparator.comparingLong(one -> one.letter().record().offset())));
      }
    }
    if (acknowledged > 0) {
      ConsumerRecord<?, ?> last = sent.get(sent.size() - 1).letter().record();
      log.warn(
          "{} of {} unusable records were dead-lettered; the last came from {}-{} at offset {}",
          acknowledged,
          sent.size(),
          last.topic(),
          last.partition(),
          last.offset());
    }
    Map<TopicPartition, HeldBack> heldBack = new HashMap<>();
    first.forEach(
        (partition, letter) ->
            heldBack.put(
                partition,
                HeldBack.deadLetter(letter.letter().record().offset(), publishEventually(letter))));
    return heldBack;
  }

  private CompletableFuture<Void> publishEventually(Sent letter) {
    CompletableFuture<Void> published = deadLetters.publishEventually(letter);
    CompletableFuture<Void> unused =
        published.thenRun(() -> metrics.countDeadLetter(event(letter)));
    return published;
  }

  /**
   * Stores events in the order of their arrival, in one transaction.
   *
   * @param andThen what else belongs in the transaction
   * @param reflected what the server reflects that has to answer
   * @return why Postgres rejected one of them, or null if they are stored
   */
  private @Nullable String tryStore(
      List<Event> events, Runnable andThen, ReflectedServer reflected) {
    StoredBatch stored;
    try {
      stored = transactions.execute(status -> storeNow(events, andThen));
    } catch (DataAccessException | TransactionException e) {
      if (events.isEmpty()) {
        throw e;
      }
      return RejectedRow.reason(e).orElseThrow(() -> e);
    }
    events.forEach(Event::stored);
    // Counted first, because the circuit breaker compares cancellations with registrations, and an
    // order that is due on arrival may be decided as soon as it is armed.
    metrics.count(stored);
    shards.arm(stored.toArm());
    shards.disarm(stored.toDisarm());
    relay.publish(stored.conflicts(), reflected);
    if (stored.misplaced() > 0) {
      partitionCounts.misplacedRecorded();
    }
    return null;
  }

  /**
   * Stores events, one of which Postgres rejects: halves them until that one is alone.
   *
   * @param rejection why Postgres rejected it
   * @param rejected receives the rejected records
   * @param all the number of events in the batch
   * @param andThen what else belongs in every transaction
   * @param reflected what the server reflects that has to answer
   */
  private void storeInHalves(
      List<Event> events,
      String rejection,
      List<Faulty> rejected,
      int all,
      Runnable andThen,
      ReflectedServer reflected) {
    if (events.size() == 1) {
      rejected.add(rejected(events.get(0), rejection));
      if (rejected.size() > ACCEPTABLE_REJECTIONS && rejected.size() > all / 2) {
        throw new SystemicRejectionException(rejected.size(), all, rejection);
      }
      return;
    }
    int half = events.size() / 2;
    for (List<Event> part : List.of(events.subList(0, half), events.subList(half, events.size()))) {
      String again = tryStore(part, andThen, reflected);
      if (again != null) {
        storeInHalves(part, again, rejected, all, andThen, reflected);
      }
    }
  }

  private static Faulty rejected(Event event, String rejection) {
    String fault = "Postgres rejected it: " + LogSanitizer.of(rejection);
    OrderSettled settled = event.settled();
    return settled == null
        ? new Faulty(event.record(), fault + "; the order is not watched", Set.of(), "")
        // The order may have been paid, so it must not be cancelled.
        : new Faulty(
            event.record(),
            fault + "; its order is parked, so not cancelled",
            Set.of(settled.orderId()),
            fault);
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

  private String event(Sent letter) {
    String topic = letter.letter().record().topic();
    if (!topics.settles(topic)) {
      return "created";
    }
    return topic.equals(topics.paid()) ? "paid" : "closed";
  }
}
