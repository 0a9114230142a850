package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.deadline.OrderCreated;
import io.ordertimeout.orders.deadline.OrderEventBatch;
import io.ordertimeout.orders.deadline.OrderEventStore;
import io.ordertimeout.orders.deadline.OrderSettled;
import io.ordertimeout.orders.deadline.RecordedBatch;
import io.ordertimeout.orders.outbox.Relay;
import io.ordertimeout.orders.shard.Shards;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Takes in a batch of records: decode, store, then tell the wheels. When it returns, everything is
 * committed in Postgres or acknowledged as a dead letter, and the offsets may be committed; when it
 * throws, the batch may be taken in again. Thread-safe.
 */
@Component
class BatchIntake {

  private static final Logger log = LoggerFactory.getLogger(BatchIntake.class);

  private final EventDecoder decoder;
  private final DeadLetters deadLetters;
  private final OrderEventStore store;
  private final Shards shards;
  private final Relay relay;
  private final IntakeMetrics metrics;
  private final OrderTimeoutProperties.Topics topics;

  BatchIntake(
      EventDecoder decoder,
      DeadLetters deadLetters,
      OrderEventStore store,
      Shards shards,
      Relay relay,
      IntakeMetrics metrics,
      OrderTimeoutProperties properties) {
    this.decoder = decoder;
    this.deadLetters = deadLetters;
    this.store = store;
    this.shards = shards;
    this.relay = relay;
    this.metrics = metrics;
    this.topics = properties.topics();
  }

  void take(Iterable<ConsumerRecord<byte[], byte[]>> records) throws InterruptedException {
    List<OrderCreated> created = new ArrayList<>();
    List<OrderSettled> settled = new ArrayList<>();
    List<DeadLetters.Sent> putAside = new ArrayList<>();
    int replacedFields = 0;
    for (ConsumerRecord<byte[], byte[]> record : records) {
      DecodedRecord decoded = decoder.decode(record);
      replacedFields += decoded.replacedFields();
      if (decoded.created() != null) {
        created.add(decoded.created());
      }
      if (decoded.settled() != null) {
        settled.add(decoded.settled());
      }
      if (decoded.fault() != null) {
        putAside.add(deadLetters.send(record, decoded.fault()));
      }
    }
    if (!created.isEmpty() || !settled.isEmpty()) {
      RecordedBatch recorded = store.record(new OrderEventBatch(created, settled));
      shards.arm(recorded.toArm());
      shards.disarm(recorded.toDisarm());
      relay.publish(recorded.conflicts());
      metrics.count(recorded);
      warnOfMisplaced(recorded.misplaced());
    }
    for (DeadLetters.Sent sent : putAside) {
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
    metrics.countReplacedFields(replacedFields);
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
