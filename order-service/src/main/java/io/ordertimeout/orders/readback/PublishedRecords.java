package io.ordertimeout.orders.readback;

import io.ordertimeout.orders.order.LostDecisions.Decision;
import io.ordertimeout.orders.order.LostDecisions.PublishedConflict;
import io.ordertimeout.orders.order.Publication;
import io.ordertimeout.orders.outbox.EventId;
import io.ordertimeout.orders.platform.avro.AvroDecoder;
import io.ordertimeout.orders.platform.avro.UnusableAvroException;
import io.ordertimeout.orders.platform.kafka.DefaultPartitioner;
import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.relay.AvroEvents;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import org.apache.avro.Schema;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Decodes records that this service has published. A record whose event id is not the one that this
 * service derives from its order was published by somebody else and is ignored. Thread-safe.
 */
final class PublishedRecords {

  /**
   * The event.
   *
   * @param data the event, if the value is a CloudEvent in structured mode
   */
  private record Body(
      @Nullable Body data,
      @Nullable UUID eventId,
      @Nullable String orderId,
      @Nullable String paymentId,
      @Nullable Instant paidAt,
      @Nullable Instant deadline,
      @Nullable Instant cancelledAt) {}

  private static final Logger log = LoggerFactory.getLogger(PublishedRecords.class);
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private PublishedRecords() {}

  /** Returns the order of a record, unverified; null if the record has no key. */
  static @Nullable String orderId(ConsumerRecord<byte[], byte[]> record) {
    return record.key() == null ? null : new String(record.key(), StandardCharsets.UTF_8);
  }

  /** Decodes a cancellation. */
  static Optional<Decision> cancellation(
      ConsumerRecord<byte[], byte[]> record, InputTopics.Layout layout) {
    return body(record, AvroEvents.CANCELLED)
        .filter(body -> body.cancelledAt != null)
        .filter(body -> isOwn(body, record, EventId.ofCancellation(orderIdOf(body))))
        .map(body -> decision(body, record, layout));
  }

  /** Decodes a conflict. */
  static Optional<PublishedConflict> conflict(
      ConsumerRecord<byte[], byte[]> record, InputTopics.Layout layout) {
    return body(record, AvroEvents.CONFLICT)
        .filter(body -> body.paymentId != null)
        .filter(
            body ->
                isOwn(
                    body,
                    record,
                    EventId.ofConflict(orderIdOf(body), String.valueOf(body.paymentId))))
        .map(
            body ->
                new PublishedConflict(
                    decision(body, record, layout), String.valueOf(body.paymentId), body.paidAt));
  }

  /**
   * Decodes a value, whatever format is configured by now.
   *
   * @param schema the schema if it is in Avro. The registry is not asked, because decisions must
   *     not wait for it: whether this service published the event is decided by the event's id.
   *     After a change of the schema, its previous versions have to be tried as well.
   */
  private static Optional<Body> body(ConsumerRecord<byte[], byte[]> record, Schema schema) {
    if (record.value() == null) {
      return Optional.empty();
    }
    try {
      if (AvroDecoder.isFramed(record.value())) {
        return Optional.of(
            JSON.treeToValue(AvroDecoder.decode(schema, record.value()), Body.class));
      }
      Body body = JSON.readValue(record.value(), Body.class);
      return Optional.of(body.data == null ? body : body.data);
    } catch (JacksonException | UnusableAvroException e) {
      log.debug(
          "{}-{}@{} was not published by this service: {}",
          record.topic(),
          record.partition(),
          record.offset(),
          e.toString());
      return Optional.empty();
    }
  }

  private static boolean isOwn(Body body, ConsumerRecord<byte[], byte[]> record, UUID expected) {
    return expected.equals(body.eventId) && orderIdOf(body).equals(orderId(record));
  }

  private static String orderIdOf(Body body) {
    return String.valueOf(body.orderId);
  }

  private static Decision decision(
      Body body, ConsumerRecord<byte[], byte[]> record, InputTopics.Layout layout) {
    return new Decision(
        orderIdOf(body),
        DefaultPartitioner.partition(orderIdOf(body), layout.partitions()),
        body.deadline,
        body.cancelledAt,
        new Publication(
            Instant.ofEpochMilli(record.timestamp()), record.partition(), record.offset()));
  }
}
