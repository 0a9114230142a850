package io.ordertimeout.orders.readback;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.kafka.KafkaConsumers;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Finds the records of published events in Kafka, because their positions are not stored.
 * Thread-safe.
 */
@Component
public class PublishedRecordFinder {

  /** The kinds of published events. */
  public enum Kind {
    /** The cancellation of an order. */
    CANCELLATION,
    /** A payment that met the order after it was cancelled or closed. */
    CONFLICT
  }

  /**
   * A published event.
   *
   * @param kind its kind
   * @param orderId its order
   * @param eventId its id
   * @param createdAt when it was written to the outbox
   * @param publishedAt when Kafka acknowledged it
   */
  public record Event(
      Kind kind, String orderId, UUID eventId, Instant createdAt, Instant publishedAt) {}

  /**
   * The result of a search.
   *
   * @param topic the topic of the event
   * @param partition the partition of its record; null if it was not found
   * @param offset the offset of its record; null if it was not found
   * @param problem why it was not found; null if it was
   */
  public record Found(
      String topic, @Nullable Integer partition, @Nullable Long offset, @Nullable String problem) {}

  private final KafkaConsumers consumers;
  private final OrderTimeoutProperties.Topics topics;

  PublishedRecordFinder(KafkaConsumers consumers, OrderTimeoutProperties properties) {
    this.consumers = consumers;
    this.topics = properties.topics();
  }

  /**
   * Finds the records of events, one after the other. All searches of a call share the limits of
   * records and time.
   *
   * @return a result for each event
   * @throws KafkaException if Kafka does not answer
   */
  public List<Found> find(List<Event> events) {
    if (events.isEmpty()) {
      return List.of();
    }
    try (PublishedRecordSearch search =
        new PublishedRecordSearch(consumers.createStandalone(), topics)) {
      return events.stream().map(search::find).toList();
    }
  }
}
