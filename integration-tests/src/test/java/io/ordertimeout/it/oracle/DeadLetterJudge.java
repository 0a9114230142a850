package io.ordertimeout.it.oracle;

import io.ordertimeout.it.oracle.Violation.Kind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/** Checks that exactly the unusable records were dead-lettered, unchanged. */
public final class DeadLetterJudge {

  /** The header that marks a record as deliberately unusable. */
  public static final String GARBAGE_HEADER = "test-garbage";

  private final Map<RecordPosition, ConsumerRecord<byte[], byte @Nullable []>> garbage =
      new HashMap<>();
  private final Map<RecordPosition, ConsumerRecord<byte[], byte @Nullable []>> letters =
      new HashMap<>();
  private final List<Violation> violations = new ArrayList<>();
  private int duplicates;

  void addGarbage(ConsumerRecord<byte[], byte @Nullable []> record) {
    garbage.put(RecordPosition.of(record), record);
  }

  void addDeadLetter(ConsumerRecord<byte[], byte @Nullable []> letter) {
    String topic = header(letter, "x-topic");
    String partition = header(letter, "x-partition");
    String offset = header(letter, "x-offset");
    if (topic == null || partition == null || offset == null || header(letter, "x-error") == null) {
      broken(Kind.WRONG_FIELDS, "dead letter without its x- headers", letter);
      return;
    }
    RecordPosition origin =
        new RecordPosition(topic, Integer.parseInt(partition), Long.parseLong(offset));
    if (letters.put(origin, letter) != null) {
      duplicates++;
    }
  }

  List<Violation> judge() {
    garbage.forEach(
        (position, record) -> {
          ConsumerRecord<byte[], byte @Nullable []> letter = letters.get(position);
          if (letter == null) {
            broken(
                Kind.DEAD_LETTER_MISSING, "no dead letter of the garbage at " + position, record);
          } else if (!Arrays.equals(record.value(), letter.value())
              || !Arrays.equals(record.key(), letter.key())
              || !Objects.equals(header(letter, GARBAGE_HEADER), header(record, GARBAGE_HEADER))) {
            broken(Kind.WRONG_FIELDS, "dead letter differs from its record at " + position, letter);
          }
        });
    letters.forEach(
        (origin, letter) -> {
          if (!garbage.containsKey(origin)) {
            broken(
                Kind.UNEXPECTED_DEAD_LETTER, "dead letter of a usable record at " + origin, letter);
          }
        });
    return List.copyOf(violations);
  }

  int garbage() {
    return garbage.size();
  }

  int duplicates() {
    return duplicates;
  }

  static @Nullable String header(ConsumerRecord<?, ?> record, String name) {
    Header header = record.headers().lastHeader(name);
    return header == null ? null : new String(header.value(), StandardCharsets.UTF_8);
  }

  private void broken(
      Kind kind, String explanation, ConsumerRecord<byte[], byte @Nullable []> record) {
    byte[] value = record.value();
    violations.add(
        new Violation(
            kind,
            explanation,
            "  "
                + RecordPosition.of(record)
                + " "
                + header(record, "x-error")
                + " "
                + (value == null ? "null" : new String(value, StandardCharsets.UTF_8))));
  }
}
