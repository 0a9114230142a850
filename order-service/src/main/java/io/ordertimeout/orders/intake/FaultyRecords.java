package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.intake.HeldBackPartitions.HeldBack;
import io.ordertimeout.orders.intake.deadletter.DeadLetterPublisher;
import io.ordertimeout.orders.intake.deadletter.DeadLetterPublisher.Letter;
import io.ordertimeout.orders.intake.deadletter.DeadLetterPublisher.Sent;
import io.ordertimeout.orders.order.EventKind;
import io.ordertimeout.orders.suspension.ParkedOrders;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** Turns faulty records into dead letters, and parks the orders that they concern. Thread-safe. */
@Component
class FaultyRecords {

  /**
   * A record that becomes a dead letter.
   *
   * @param parked the orders that are parked because of it
   * @param reason why they are parked
   */
  record Faulty(
      ConsumerRecord<byte[], byte[]> record, String fault, Set<String> parked, String reason) {}

  private static final Logger log = LoggerFactory.getLogger(FaultyRecords.class);

  private final DeadLetterPublisher deadLetters;
  private final ParkedOrders parked;
  private final IntakeMetrics metrics;
  private final OrderTimeoutProperties.Topics topics;

  FaultyRecords(
      DeadLetterPublisher deadLetters,
      ParkedOrders parked,
      IntakeMetrics metrics,
      OrderTimeoutProperties properties) {
    this.deadLetters = deadLetters;
    this.parked = parked;
    this.metrics = metrics;
    this.topics = properties.topics();
  }

  /**
   * Parks orders in the present transaction and publishes dead letters.
   *
   * @return the first dead letter of each partition that Kafka has not acknowledged in time
   */
  Map<TopicPartition, Sent> parkAndPublish(List<Faulty> faulty) {
    if (faulty.isEmpty()) {
      return Map.of();
    }
    park(faulty);
    return publish(faulty);
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
                      "{} orders of shard {} are parked: a payment, closure or change of them cannot be used."
                          + " Publish it again in a usable form, or decide the orders by hand",
                      orderIds.size(),
                      shard);
                }));
  }

  private Map<TopicPartition, Sent> publish(List<Faulty> faulty) {
    List<Sent> sent =
        deadLetters.publish(
            faulty.stream().map(letter -> new Letter(letter.record(), letter.fault())).toList());
    Map<TopicPartition, Sent> unacknowledged = new HashMap<>();
    int acknowledged = 0;
    for (Sent letter : sent) {
      ConsumerRecord<?, ?> record = letter.letter().record();
      if (letter.isAcknowledged()) {
        acknowledged++;
        metrics.countDeadLetter(kind(letter));
      } else {
        unacknowledged.merge(
            new TopicPartition(record.topic(), record.partition()),
            letter,
            BinaryOperator.minBy(Comparator.comparingLong(FaultyRecords::offset)));
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
    return unacknowledged;
  }

  /**
   * Continues to publish dead letters, until which their partitions are held back.
   *
   * @param unacknowledged the first of each partition
   */
  Map<TopicPartition, HeldBack> publishEventually(Map<TopicPartition, Sent> unacknowledged) {
    Map<TopicPartition, HeldBack> heldBack = new HashMap<>();
    unacknowledged.forEach(
        (partition, letter) -> {
          CompletableFuture<Void> published = deadLetters.publishEventually(letter);
          CompletableFuture<Void> unused =
              published.thenRun(() -> metrics.countDeadLetter(kind(letter)));
          heldBack.put(partition, HeldBack.deadLetter(offset(letter), published));
        });
    return heldBack;
  }

  static long offset(Sent letter) {
    return letter.letter().record().offset();
  }

  private EventKind kind(Sent letter) {
    String topic = letter.letter().record().topic();
    if (!topics.settles(topic)) {
      return EventKind.CREATED;
    }
    if (topic.equals(topics.paid())) {
      return EventKind.PAID;
    }
    if (topic.equals(topics.closed())) {
      return EventKind.CLOSED;
    }
    return topic.equals(topics.attempts()) ? EventKind.ATTEMPT : EventKind.CHANGED;
  }
}
