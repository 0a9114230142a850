package io.ordertimeout.orders.intake.decoding;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** How records contain events. */
enum RecordFormat {

  /** The value is the event; the type of a record of Avro is the full name of its schema. */
  PLAIN {
    @Override
    @Nullable ExtractedEvent extract(
        ConsumerRecord<byte @Nullable [], byte @Nullable []> record,
        ValueDecoder values,
        JsonMapper json)
        throws UnusableRecordException {
      DecodedValue value = parse(record, values, json);
      return new ExtractedEvent(object(value.tree()), value.type(), false);
    }
  },

  /**
   * CloudEvents 1.0 in Kafka's protocol binding: in binary mode, the attributes are headers and the
   * value is the data; in structured mode, both are in the value.
   */
  CLOUDEVENTS {
    @Override
    @Nullable ExtractedEvent extract(
        ConsumerRecord<byte @Nullable [], byte @Nullable []> record,
        ValueDecoder values,
        JsonMapper json)
        throws UnusableRecordException {
      if (header(record, "ce_specversion") != null) {
        return new ExtractedEvent(
            object(parse(record, values, json).tree()), header(record, "ce_type"), false);
      }
      JsonNode envelope = object(parse(record, values, json).tree());
      if (!envelope.path("specversion").isString()) {
        throw new UnusableRecordException(
            "neither a header ce_specversion nor a field specversion: it is no CloudEvent");
      }
      return new ExtractedEvent(object(data(envelope, json)), text(envelope.path("type")), false);
    }

    private JsonNode data(JsonNode envelope, JsonMapper json) throws UnusableRecordException {
      JsonNode encoded = envelope.path("data_base64");
      if (encoded.isMissingNode()) {
        return envelope.path("data");
      }
      try {
        return ValueDecoder.json(encoded.binaryValue(), json);
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
    @Nullable ExtractedEvent extract(
        ConsumerRecord<byte @Nullable [], byte @Nullable []> record,
        ValueDecoder values,
        JsonMapper json)
        throws UnusableRecordException {
      if (record.value() == null) {
        return null;
      }
      JsonNode change = payload(object(parse(record, values, json).tree()));
      JsonNode operation = change.path("op");
      return switch (operation.asString("")) {
        case "c", "u", "r" -> new ExtractedEvent(object(change.path("after")), null, true);
        case "d", "t", "m" -> null;
        default ->
            throw new UnusableRecordException(
                "op is not one of Debezium's operations: " + operation);
      };
    }
  },

  /**
   * An event of Debezium's outbox event router: the payload as JSON, or as text that contains JSON,
   * with or without its schema. The type is in a header.
   */
  OUTBOX {
    @Override
    @Nullable ExtractedEvent extract(
        ConsumerRecord<byte @Nullable [], byte @Nullable []> record,
        ValueDecoder values,
        JsonMapper json)
        throws UnusableRecordException {
      JsonNode value = parse(record, values, json).tree();
      JsonNode payload = value.isObject() ? payload(value) : value;
      JsonNode event =
          payload.isString() ? ValueDecoder.json(utf8(payload.stringValue()), json) : payload;
      String type = header(record, "eventType");
      return new ExtractedEvent(object(event), type == null ? header(record, "type") : type, false);
    }
  };

  /**
   * Extracts the event of a record.
   *
   * @param values decodes the value
   * @param json parses JSON inside of it
   * @return null if the record contains no event, and none is missing
   */
  abstract @Nullable ExtractedEvent extract(
      ConsumerRecord<byte @Nullable [], byte @Nullable []> record,
      ValueDecoder values,
      JsonMapper json)
      throws UnusableRecordException;

  /** Returns the text of a record's last header of that name; null if it has none. */
  static @Nullable String header(ConsumerRecord<?, ?> record, String name) {
    Header header = record.headers().lastHeader(name);
    return header == null || header.value() == null
        ? null
        : new String(header.value(), StandardCharsets.UTF_8);
  }

  /** Unwraps the envelope that Kafka Connect's JsonConverter writes with schemas.enable=true. */
  static JsonNode payload(JsonNode value) {
    return value.has("schema") && value.has("payload") && value.size() == 2
        ? value.path("payload")
        : value;
  }

  private static DecodedValue parse(
      ConsumerRecord<byte @Nullable [], byte @Nullable []> record,
      ValueDecoder values,
      JsonMapper json)
      throws UnusableRecordException {
    byte[] value = record.value();
    if (value == null) {
      throw new UnusableRecordException("the value is null (a tombstone)");
    }
    if (value.length == 0) {
      throw new UnusableRecordException("the value is empty");
    }
    return values.decode(record.topic(), record.headers(), value, json);
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
