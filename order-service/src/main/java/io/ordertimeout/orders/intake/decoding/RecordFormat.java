package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.intake.decoding.ExtractedEvent.RowWithoutSchema;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** How records contain events. */
enum RecordFormat {

  /** The value is the event; the type of a record of Avro is the full name of its schema. */
  PLAIN {
    @Override
    @Nullable ExtractedEvent event(ConsumerRecord<?, ?> record, DecodedValue value)
        throws UnusableRecordException {
      return new ExtractedEvent(object(value.tree()), value.type(), value.isTyped());
    }
  },

  /**
   * CloudEvents 1.0 in Kafka's protocol binding: in binary mode, the attributes are headers and the
   * value is the data; in structured mode, both are in the value.
   */
  CLOUDEVENTS {
    @Override
    @Nullable ExtractedEvent event(ConsumerRecord<?, ?> record, DecodedValue value)
        throws UnusableRecordException {
      if (header(record, "ce_specversion") != null && !isStructured(record)) {
        return new ExtractedEvent(object(value.tree()), header(record, "ce_type"), value.isTyped());
      }
      JsonNode envelope = object(value.tree());
      if (!envelope.path("specversion").isString()) {
        throw new UnusableRecordException(
            "neither a header ce_specversion nor a field specversion: it is no CloudEvent");
      }
      return new ExtractedEvent(
          object(data(envelope)), text(envelope.path("type")), value.isTyped());
    }

    /** The content type decides, as the binding demands, whatever headers there are. */
    private boolean isStructured(ConsumerRecord<?, ?> record) {
      String contentType = header(record, "content-type");
      return contentType != null
          && contentType.strip().regionMatches(true, 0, STRUCTURED, 0, STRUCTURED.length());
    }

    private JsonNode data(JsonNode envelope) throws UnusableRecordException {
      JsonNode encoded = envelope.path("data_base64");
      if (encoded.isMissingNode()) {
        return envelope.path("data");
      }
      try {
        return JsonTree.parse(encoded.binaryValue());
      } catch (JacksonException e) {
        throw new UnusableRecordException("data_base64 is not in Base64");
      }
    }
  },

  /**
   * A change event of Debezium, with or without its schema: the row after a creation, an update or
   * a snapshot. Deletions, truncations and tombstones are no events.
   */
  DEBEZIUM {
    @Override
    @Nullable ExtractedEvent event(ConsumerRecord<?, ?> record, DecodedValue value)
        throws UnusableRecordException {
      JsonNode change = object(value.tree());
      String operation = text(change.path("op"));
      return switch (operation == null ? "" : operation) {
        case "c", "u", "r" ->
            new ExtractedEvent(
                object(change.path("after")),
                null,
                true,
                value.isTyped() ? null : new RowWithoutSchema(insertedAt(change)));
        case "d", "t", "m" -> null;
        default ->
            throw new UnusableRecordException(
                "op is not one of Debezium's operations: "
                    + EventFields.excerpt(change.path("op")));
      };
    }

    private @Nullable Instant insertedAt(JsonNode change) {
      JsonNode time = change.path("source").path("ts_ms");
      return "c".equals(text(change.path("op"))) && time.isIntegralNumber()
          ? EpochTime.of(time.asLong(0))
          : null;
    }
  },

  /**
   * An event of Debezium's outbox event router: the payload as JSON, or as text that contains JSON,
   * with or without its schema. The type is in a header.
   */
  OUTBOX {
    @Override
    @Nullable ExtractedEvent event(ConsumerRecord<?, ?> record, DecodedValue value)
        throws UnusableRecordException {
      JsonNode payload = value.tree();
      JsonNode event = payload.isString() ? JsonTree.parse(utf8(payload.stringValue())) : payload;
      String type = header(record, "eventType");
      return new ExtractedEvent(
          object(event), type == null ? header(record, "type") : type, value.isTyped());
    }
  };

  private static final String STRUCTURED = "application/cloudevents";

  /** Returns the event in a decoded value; null if there is none, and none is missing. */
  abstract @Nullable ExtractedEvent event(ConsumerRecord<?, ?> record, DecodedValue value)
      throws UnusableRecordException;

  /**
   * Extracts the event of a record.
   *
   * @param values decodes the value
   * @return null if the record contains no event, and none is missing, as in a tombstone: the mark
   *     of a deletion, which compacted topics and retention jobs write
   */
  final @Nullable ExtractedEvent extract(
      ConsumerRecord<byte @Nullable [], byte @Nullable []> record, ValueDecoder values)
      throws UnusableRecordException {
    byte[] value = record.value();
    if (value == null) {
      return null;
    }
    if (value.length == 0) {
      throw new UnusableRecordException("the value is empty");
    }
    DecodedValue decoded =
        ConnectEnvelope.open(values.decode(record.topic(), record.headers(), value));
    boolean isTombstone = decoded.isTyped() && decoded.tree().isNull();
    return isTombstone ? null : event(record, decoded);
  }

  /** Returns the text of a record's last header of that name; null if it has none. */
  static @Nullable String header(ConsumerRecord<?, ?> record, String name) {
    Header header = record.headers().lastHeader(name);
    return header == null || header.value() == null
        ? null
        : new String(header.value(), StandardCharsets.UTF_8);
  }

  private static JsonNode object(JsonNode node) throws UnusableRecordException {
    if (!node.isObject()) {
      throw new UnusableRecordException("the value is not an object but " + node.getNodeType());
    }
    return node;
  }

  private static @Nullable String text(JsonNode node) {
    return node.isString() ? node.stringValue() : null;
  }

  static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
