package io.ordertimeout.orders.intake.decoding;

import java.time.Instant;
import java.util.Base64;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A record as a line of JSON, as {@code kcat -J} prints records: {@code topic}, {@code payload} and
 * optional {@code key}, {@code partition}, {@code ts} in milliseconds, and {@code headers}, a list
 * of names and values in turn. What is not text is in {@code payload_base64} or {@code key_base64}
 * instead.
 */
final class SampleLine {

  private SampleLine() {}

  /**
   * Reads a line.
   *
   * @param now the timestamp of a record without one
   * @throws IllegalArgumentException if it is not such a line
   */
  static ConsumerRecord<byte @Nullable [], byte @Nullable []> parse(String line, Instant now) {
    JsonNode record;
    try {
      record = JsonTree.parse(RecordFormat.utf8(line));
    } catch (UnusableRecordException e) {
      throw new IllegalArgumentException("it is not JSON, as kcat -J prints it", e);
    }
    if (!record.path("topic").isString()) {
      throw new IllegalArgumentException("it has no topic");
    }
    return new ConsumerRecord<>(
        record.path("topic").stringValue(),
        Math.toIntExact(wholeNumber(record, "partition", 0, Integer.MAX_VALUE)),
        0,
        wholeNumber(record, "ts", now.toEpochMilli(), Long.MAX_VALUE),
        TimestampType.CREATE_TIME,
        0,
        0,
        bytes(record, "key"),
        bytes(record, "payload"),
        headers(record.path("headers")),
        Optional.empty());
  }

  private static long wholeNumber(JsonNode record, String field, long otherwise, long greatest) {
    JsonNode number = record.path(field);
    if (number.isMissingNode() || number.isNull()) {
      return otherwise;
    }
    if (number.isIntegralNumber() && number.canConvertToLong()) {
      long value = number.longValue();
      if (value >= 0 && value <= greatest) {
        return value;
      }
    }
    throw new IllegalArgumentException(
        "its %s is not a whole number from 0 to %d: %s".formatted(field, greatest, number));
  }

  private static RecordHeaders headers(JsonNode list) {
    RecordHeaders headers = new RecordHeaders();
    boolean isAbsent = list.isMissingNode() || list.isNull();
    if (!isAbsent && !list.isArray()) {
      throw wrongHeaders(list);
    }
    for (int i = 0; i < list.size(); i += 2) {
      JsonNode name = list.path(i);
      JsonNode value = list.path(i + 1);
      if (!name.isString() || !(value.isString() || value.isNull())) {
        throw wrongHeaders(list);
      }
      headers.add(
          name.stringValue(), value.isNull() ? null : RecordFormat.utf8(value.stringValue()));
    }
    return headers;
  }

  private static IllegalArgumentException wrongHeaders(JsonNode list) {
    return new IllegalArgumentException(
        "its headers are not a list of texts, names and values in turn: " + list);
  }

  private static byte @Nullable [] bytes(JsonNode record, String field) {
    JsonNode encoded = record.path(field + "_base64");
    if (encoded.isString()) {
      return Base64.getDecoder().decode(encoded.stringValue());
    }
    JsonNode node = record.path(field);
    if (node.isMissingNode() || node.isNull()) {
      return null;
    }
    // A value that is an object is a convenience for those who write records by hand.
    return RecordFormat.utf8(node.isString() ? node.stringValue() : node.toString());
  }
}
