package io.ordertimeout.it.support;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Objects;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A record that the service published. */
public record PublishedEvent(ConsumerRecord<byte[], byte @Nullable []> record) {

  public String key() {
    return new String(record.key(), StandardCharsets.UTF_8);
  }

  /** The event, which is the data of the value if that is a CloudEvent in structured mode. */
  public JsonNode body() {
    JsonNode value = JsonMapper.shared().readTree(Objects.requireNonNull(record.value()));
    return value.has("specversion") ? value.path("data") : value;
  }

  public String text(String field) {
    return body().path(field).asString();
  }

  public Instant instant(String field) {
    return Instant.parse(text(field));
  }

  /** The time at which the broker appended it. */
  public Instant appendedAt() {
    return Instant.ofEpochMilli(record.timestamp());
  }

  public @Nullable String header(String name) {
    Header header = record.headers().lastHeader(name);
    return header == null ? null : new String(header.value(), StandardCharsets.UTF_8);
  }
}
