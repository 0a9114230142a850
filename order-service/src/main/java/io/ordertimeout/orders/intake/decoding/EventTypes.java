package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.order.EventKind;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Determines what an event tells about its order: by its topic, or by its type. */
final class EventTypes {

  private static final String HEADER = "header:";
  private static final String ALL_OTHERS = "*";

  private final OrderTimeoutProperties.Topics topics;
  private final OrderTimeoutProperties.Types types;

  EventTypes(OrderTimeoutProperties.Topics topics, OrderTimeoutProperties.Types types) {
    this.topics = topics;
    this.types = types;
  }

  /** Returns what all events of a topic tell; null if it depends on their types. */
  @Nullable EventKind ofTopic(String topic) {
    if (types.areUsed()) {
      return null;
    }
    if (topic.equals(topics.created())) {
      return EventKind.CREATED;
    }
    if (topic.equals(topics.paid())) {
      return EventKind.PAID;
    }
    if (topic.equals(topics.attempts())) {
      return EventKind.ATTEMPT;
    }
    return topic.equals(topics.changed()) ? EventKind.CHANGED : EventKind.CLOSED;
  }

  /** Returns what an event tells; null if it does not matter. */
  @Nullable EventKind of(ConsumerRecord<?, ?> record, ExtractedEvent extracted)
      throws UnusableRecordException {
    EventKind kind = ofTopic(record.topic());
    if (kind != null) {
      return kind;
    }
    String type = type(record, extracted);
    if (types.created().contains(type)) {
      return EventKind.CREATED;
    }
    if (types.paid().contains(type)) {
      return EventKind.PAID;
    }
    if (types.closed().contains(type)) {
      return EventKind.CLOSED;
    }
    if (types.attempts().contains(type)) {
      return EventKind.ATTEMPT;
    }
    if (types.changed().contains(type)) {
      return EventKind.CHANGED;
    }
    if (types.ignored().contains(type) || types.ignored().contains(ALL_OTHERS)) {
      return null;
    }
    throw new UnusableRecordException(
        "its type is not listed in order-timeout.intake.types: " + type);
  }

  private String type(ConsumerRecord<?, ?> record, ExtractedEvent extracted)
      throws UnusableRecordException {
    String from = types.from();
    String type;
    if (from == null) {
      type = extracted.type();
    } else if (from.startsWith(HEADER)) {
      type = RecordFormat.header(record, from.substring(HEADER.length()));
    } else {
      JsonNode node = JsonTree.at(extracted.event(), from);
      Unclear unclear = Unclear.of(node);
      if (unclear != null) {
        throw new UnusableRecordException("its type " + from + " " + unclear.fault());
      }
      type = node.isValueNode() && !node.isNull() ? node.asString() : null;
    }
    if (type == null) {
      throw new UnusableRecordException(
          "its type is missing" + (from == null ? "" : " from " + from));
    }
    return type;
  }
}
