package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.intake.decoding.EventCheck.Sample;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A record as a line of JSON, as {@code kcat -J} prints records: {@code topic}, {@code payload} and
 * optional {@code key}, {@code partition}, {@code ts} in milliseconds, and {@code headers}, a list
 * of names and values in turn.
 */
final class SampleLine {

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private SampleLine() {}

  /**
   * Reads a line.
   *
   * @param now the timestamp of a record without one
   * @throws IllegalArgumentException if it is not such a line
   */
  static Sample parse(String line, Instant now) {
    JsonNode record;
    try {
      record = JSON.readTree(line);
    } catch (JacksonException e) {
      throw new IllegalArgumentException("it is not JSON: " + e.getOriginalMessage(), e);
    }
    if (!record.path("topic").isString()) {
      throw new IllegalArgumentException("it has no topic");
    }
    JsonNode list = record.path("headers");
    Map<String, String> headers = new LinkedHashMap<>();
    for (int i = 0; i + 1 < list.size(); i += 2) {
      headers.put(list.path(i).asString(""), list.path(i + 1).asString(""));
    }
    return new Sample(
        record.path("topic").stringValue(),
        record.path("partition").asInt(0),
        record.path("ts").asLong(now.toEpochMilli()),
        text(record.path("key")),
        text(record.path("payload")),
        headers);
  }

  /** A value that is an object is a convenience for those who write records by hand. */
  private static @Nullable String text(JsonNode node) {
    if (node.isMissingNode() || node.isNull()) {
      return null;
    }
    return node.isString() ? node.stringValue() : node.toString();
  }
}
