package io.ordertimeout.it.oracle;

import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.TopicNames;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * Checks that exactly the unusable records were dead-lettered, each in the dead-letter topic of its
 * topic, unchanged, with its headers and the reason. Dead letters may be repeated.
 */
public final class DeadLetterJudge {

  /** The header that marks a record as deliberately unusable. */
  public static final String GARBAGE_HEADER = "test-garbage";

  private static final Set<String> ADDED_HEADERS =
      Set.of("x-error", "x-topic", "x-partition", "x-offset", "x-timestamp");

  private final Map<RecordPosition, ConsumerRecord<byte @Nullable [], byte @Nullable []>> garbage =
      new HashMap<>();
  private final Map<RecordPosition, List<ConsumerRecord<byte @Nullable [], byte @Nullable []>>>
      letters = new HashMap<>();
  private final Map<TopicPartition, Long> lastUsable = new HashMap<>();
  private final List<Violation> malformed = new ArrayList<>();

  void addGarbage(ConsumerRecord<byte @Nullable [], byte @Nullable []> record) {
    garbage.put(RecordPosition.of(record), record);
  }

  void addUsable(ConsumerRecord<?, ?> record) {
    lastUsable.merge(partition(record), record.offset(), Math::max);
  }

  void addDeadLetter(ConsumerRecord<byte @Nullable [], byte @Nullable []> letter) {
    try {
      RecordPosition origin =
          new RecordPosition(
              required(letter, "x-topic"),
              Integer.parseInt(required(letter, "x-partition")),
              Long.parseLong(required(letter, "x-offset")));
      required(letter, "x-error");
      letters.computeIfAbsent(origin, position -> new ArrayList<>(1)).add(letter);
    } catch (IllegalArgumentException e) {
      malformed.add(violation(Kind.WRONG_FIELDS, "dead letter: " + e.getMessage(), letter));
    }
  }

  private static String required(ConsumerRecord<?, ?> letter, String name) {
    String value = header(letter, name);
    if (value == null || value.isBlank()) {
      throw new IllegalArgumentException("without a header " + name);
    }
    return value;
  }

  List<Violation> judge() {
    List<Violation> violations = new ArrayList<>(malformed);
    garbage.forEach(
        (position, record) -> {
          if (!letters.containsKey(position)) {
            violations.add(
                violation(
                    Kind.DEAD_LETTER_MISSING,
                    "no dead letter of the garbage at " + position,
                    record));
          }
        });
    letters.forEach(
        (origin, repetitions) -> {
          ConsumerRecord<byte @Nullable [], byte @Nullable []> record = garbage.get(origin);
          for (ConsumerRecord<byte @Nullable [], byte @Nullable []> letter : repetitions) {
            if (record == null) {
              violations.add(
                  violation(
                      Kind.UNEXPECTED_DEAD_LETTER,
                      "dead letter of a usable record at " + origin,
                      letter));
            } else if (!isCopy(letter, record)) {
              violations.add(
                  violation(
                      Kind.WRONG_FIELDS,
                      "dead letter differs from its record at " + origin,
                      letter));
            }
          }
        });
    return violations;
  }

  private static boolean isCopy(
      ConsumerRecord<byte @Nullable [], byte @Nullable []> letter,
      ConsumerRecord<byte @Nullable [], byte @Nullable []> record) {
    return letter.topic().equals(TopicNames.deadLetters(record.topic()))
        && Arrays.equals(letter.key(), record.key())
        && Arrays.equals(letter.value(), record.value())
        && ownHeaders(letter).equals(ownHeaders(record));
  }

  private static List<Header> ownHeaders(ConsumerRecord<?, ?> record) {
    return StreamSupport.stream(record.headers().spliterator(), false)
        .filter(header -> !ADDED_HEADERS.contains(header.key()))
        .toList();
  }

  /** The numbers of unusable records, as far as the traffic sent any. */
  @Override
  public String toString() {
    long followed =
        garbage.values().stream()
            .filter(record -> lastUsable.getOrDefault(partition(record), -1L) > record.offset())
            .count();
    long repeated = letters.values().stream().mapToLong(each -> each.size() - 1L).sum();
    return "%d unusable records, %d of them with usable records behind them; %d repeated dead letters"
        .formatted(garbage.size(), followed, repeated);
  }

  static @Nullable String header(ConsumerRecord<?, ?> record, String name) {
    Header header = record.headers().lastHeader(name);
    return header == null ? null : new String(header.value(), StandardCharsets.UTF_8);
  }

  private static TopicPartition partition(ConsumerRecord<?, ?> record) {
    return new TopicPartition(record.topic(), record.partition());
  }

  private static Violation violation(
      Kind kind, String explanation, ConsumerRecord<byte @Nullable [], byte @Nullable []> record) {
    byte[] value = record.value();
    return new Violation(
        kind,
        explanation,
        "  "
            + RecordPosition.of(record)
            + " "
            + header(record, "x-error")
            + " "
            + (value == null ? "null" : new String(value, StandardCharsets.UTF_8)));
  }
}
