package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.order.OrderDeadlineRepository;
import io.ordertimeout.orders.order.OrderState;
import io.ordertimeout.orders.order.OrderView;
import io.ordertimeout.orders.order.PaymentConflicts;
import io.ordertimeout.orders.order.PublishedEvents;
import io.ordertimeout.orders.outbox.EventId;
import io.ordertimeout.orders.readback.PublishedRecordFinder;
import io.ordertimeout.orders.readback.PublishedRecordFinder.Event;
import io.ordertimeout.orders.readback.PublishedRecordFinder.Found;
import io.ordertimeout.orders.readback.PublishedRecordFinder.Kind;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** Finds the published events of an order in Kafka. Thread-safe. */
@Component
public class OrderPublications {

  /**
   * A published event that may not have been searched for yet.
   *
   * @param event the event
   * @param paymentId the payment, if it is a conflict
   */
  public record PublishedEvent(Event event, @Nullable String paymentId) {}

  /**
   * A published event and the position of its record in Kafka.
   *
   * @param type order-cancelled or order-payment-conflict
   * @param eventId the id of the event
   * @param paymentId the payment of a conflict; null if it is a cancellation
   * @param publishedAt when Kafka acknowledged it
   * @param topic the topic to which it was published
   * @param partition the partition of its record; null if it was not found
   * @param offset the offset of its record; null if it was not found
   * @param problem why it was not found; null if it was
   */
  public record Publication(
      String type,
      String eventId,
      @Nullable String paymentId,
      Instant publishedAt,
      String topic,
      @Nullable Integer partition,
      @Nullable Long offset,
      @Nullable String problem) {

    private static Publication of(PublishedEvent published, Found found) {
      Event event = published.event();
      return new Publication(
          event.kind() == Kind.CANCELLATION ? "order-cancelled" : "order-payment-conflict",
          event.eventId().toString(),
          published.paymentId(),
          event.publishedAt(),
          found.topic(),
          found.partition(),
          found.offset(),
          found.problem());
    }
  }

  private final OrderDeadlineRepository orders;
  private final PublishedEvents published;
  private final PaymentConflicts conflicts;
  private final PublishedRecordFinder finder;

  OrderPublications(
      OrderDeadlineRepository orders,
      PublishedEvents published,
      PaymentConflicts conflicts,
      PublishedRecordFinder finder) {
    this.orders = orders;
    this.published = published;
    this.conflicts = conflicts;
    this.finder = finder;
  }

  /** Returns the published events of an order, the earliest first; empty if there is no order. */
  @Transactional(readOnly = true)
  public Optional<List<PublishedEvent>> of(String orderId) {
    return orders.findByOrderId(orderId).map(row -> events(row.view()));
  }

  private List<PublishedEvent> events(OrderView order) {
    String orderId = order.orderId();
    List<PublishedEvent> events = new ArrayList<>();
    Instant decidedAt = order.decidedAt();
    if (order.state() == OrderState.CANCELLED && decidedAt != null) {
      published
          .cancellationPublishedAt(orderId)
          .map(
              at ->
                  new Event(
                      Kind.CANCELLATION, orderId, EventId.ofCancellation(orderId), decidedAt, at))
          .ifPresent(event -> events.add(new PublishedEvent(event, null)));
    }
    for (PaymentConflicts.Conflict conflict : conflicts.of(orderId)) {
      String paymentId = conflict.paymentId();
      Instant publishedAt = conflict.publishedAt();
      if (publishedAt != null) {
        Event event =
            new Event(
                Kind.CONFLICT,
                orderId,
                EventId.ofConflict(orderId, paymentId),
                conflict.detectedAt(),
                publishedAt);
        events.add(new PublishedEvent(event, paymentId));
      }
    }
    return events;
  }

  /**
   * Searches Kafka for events.
   *
   * @throws KafkaException if Kafka does not answer
   */
  public List<Publication> find(List<PublishedEvent> events) {
    List<Found> found = finder.find(events.stream().map(PublishedEvent::event).toList());
    List<Publication> publications = new ArrayList<>();
    for (int i = 0; i < events.size(); i++) {
      publications.add(Publication.of(events.get(i), found.get(i)));
    }
    return publications;
  }
}
