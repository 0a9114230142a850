package io.ordertimeout.orders.intake.decoding;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Tuple;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

/** Generators of malicious, malformed and corrupted records. */
final class HostileRecords {

  static final String CREATED = "order-created";
  static final String PAID = "order-paid";
  static final String CLOSED = "order-closed";
  static final Instant RECORDED = Instant.parse("2026-05-01T12:00:00Z");

  /** All fields of incoming events. */
  static final List<String> FIELDS =
      List.of(
          "orderId",
          "createdAt",
          "payBy",
          "timeout",
          "channel",
          "paymentMethod",
          "amount",
          "paymentId",
          "paidAt",
          "closedAt",
          "reason");

  private static final String VALID =
      """
      {"orderId":"o","createdAt":"2026-05-01T12:00:00.000001Z","payBy":null,"timeout":"PT30S",\
      "channel":"web","paymentMethod":"card","amount":{"value":12.50,"currency":"EUR"},\
      "paymentId":"p","paidAt":"2026-05-01T12:00:01Z","closedAt":"2026-05-01T14:00:01+02:00",\
      "reason":"CUSTOMER"}""";

  private HostileRecords() {}

  static ConsumerRecord<byte @Nullable [], byte @Nullable []> record(
      String topic, long timestampMillis, byte @Nullable [] key, byte @Nullable [] value) {
    return new ConsumerRecord<>(
        topic,
        3,
        42,
        timestampMillis,
        TimestampType.CREATE_TIME,
        0,
        0,
        key,
        value,
        new RecordHeaders(),
        Optional.empty());
  }

  /** Records with the given values and with random topics, keys and timestamps. */
  static Arbitrary<ConsumerRecord<byte @Nullable [], byte @Nullable []>> records(
      Arbitrary<byte[]> values) {
    Arbitrary<Optional<byte[]>> keys =
        Arbitraries.frequencyOf(
            Tuple.of(8, Arbitraries.just(Optional.of("o".getBytes(UTF_8)))),
            Tuple.of(1, Arbitraries.just(Optional.<byte[]>empty())),
            Tuple.of(1, Arbitraries.bytes().array(byte[].class).ofMaxSize(5).map(Optional::of)));
    return Combinators.combine(
            Arbitraries.of(CREATED, PAID, CLOSED), timestamps(), keys, values.optional(0.99))
        .as((topic, time, key, value) -> record(topic, time, key.orElse(null), value.orElse(null)));
  }

  private static Arbitrary<Long> timestamps() {
    return Arbitraries.oneOf(
        Arbitraries.just(RECORDED.toEpochMilli()),
        Arbitraries.of(-1L, 0L, 1L, Long.MIN_VALUE, Long.MAX_VALUE, 253_402_300_799_999L),
        Arbitraries.longs());
  }

  /** Random bytes. */
  static Arbitrary<byte[]> noise() {
    return Arbitraries.bytes().array(byte[].class).ofMaxSize(300);
  }

  /** JSON objects with the known fields, some of them duplicate, and arbitrary values. */
  static Arbitrary<byte[]> objects() {
    Arbitrary<String> names =
        Arbitraries.frequencyOf(
            Tuple.of(9, Arbitraries.of(FIELDS)),
            Tuple.of(1, Arbitraries.of("", "a\\u0000b", "__proto__", "\\ud800")));
    Arbitrary<String> members =
        Combinators.combine(names, trees()).as((name, value) -> "\"" + name + "\":" + value);
    return Combinators.combine(
            Arbitraries.of("\"orderId\":\"o\"", "\"orderId\":\"o\",\"amount\":{}", "\"x\":1"),
            members.list().ofMaxSize(6),
            Arbitraries.of("", "\uFEFF"))
        .as(
            (first, others, mark) ->
                (mark
                        + "{"
                        + first
                        + (others.isEmpty() ? "" : ",")
                        + String.join(",", others)
                        + "}")
                    .getBytes(UTF_8));
  }

  private static Arbitrary<String> trees() {
    return Arbitraries.lazyOf(
        () -> scalars(),
        () -> texts().map(HostileRecords::quoted),
        () -> trees().list().ofMaxSize(3).map(items -> "[" + String.join(",", items) + "]"),
        () ->
            Combinators.combine(trees(), Arbitraries.of("\"EUR\"", "\"\\u0085\"", "7", "null"))
                .as((value, currency) -> "{\"value\":" + value + ",\"currency\":" + currency + "}"),
        () ->
            Combinators.combine(trees(), Arbitraries.integers().between(1, 40))
                .as((inner, depth) -> "[".repeat(depth) + inner + "]".repeat(depth)));
  }

  private static Arbitrary<String> scalars() {
    return Arbitraries.oneOf(
        Arbitraries.of(
            "null",
            "true",
            "0",
            "-0",
            "-0.0",
            "1E+999999999",
            "1e-999999999",
            "1e2147483648",
            "9e99999999999999999999",
            "1e10",
            "1e11",
            "0.00000000001",
            "123456789012345678901234567890",
            "1234567890123456789012345678901"),
        Arbitraries.of("NaN", "Infinity", "-Infinity", "01", "+1", "'x'", "\"\t\"", "\"\\x\""),
        Arbitraries.longs().map(String::valueOf),
        Arbitraries.bigDecimals().map(String::valueOf),
        Arbitraries.integers().between(90, 110).map("9"::repeat));
  }

  /** Contents of JSON strings: times, durations, numbers, injections, any Unicode. */
  private static Arbitrary<String> texts() {
    return Arbitraries.oneOf(
        Arbitraries.of(
            "2026-05-01T12:00:00.123456789Z",
            "9999-12-31T23:59:59.999999999Z",
            "1970-01-01T00:00:00Z",
            "1969-12-31T23:59:59.999999999Z",
            "+999999999-12-31T23:59:59.999999999-18:00",
            "-999999999-01-01T00:00:00+18:00",
            "+10000-01-01T00:00:00Z",
            "2026-02-30T00:00:00Z",
            "2026-05-01T24:00:00Z",
            "2026-05-01T12:00:60Z",
            "infinity"),
        Arbitraries.of(
            "PT30S",
            "PT0.0000000001S",
            "PT0.000000001S",
            "P400D",
            "P401D",
            "-PT1S",
            "PT9223372036854775807S",
            "P106751991167300DT9223372036854775807S",
            "PT2562047788015215H"),
        Arbitraries.of("1.5", "1e999999999", "-1e-2147483648", "\u0663", "0x10", "1d", " 1"),
        Arbitraries.of(
            "a\nERROR forged", "a\r\nb", "\u0085", "\u2028", "\u202E", "\u200B", "\uFEFF", "\0"),
        Arbitraries.of("x", "x".repeat(128), "x".repeat(129), "x".repeat(5_000)),
        Arbitraries.of(
            "\uD83D\uDED2".repeat(128), "\uD83D\uDED2".repeat(129), "x\uD83D", "\uDED2x"),
        Arbitraries.strings().all().ofMaxLength(100),
        // Truncation then falls before, inside and after a surrogate pair.
        Arbitraries.integers().between(0, 3).map(n -> "x".repeat(n) + "\uD83D\uDED2".repeat(90)));
  }

  private static String quoted(String text) {
    StringBuilder json = new StringBuilder("\"");
    text.chars()
        .forEach(
            c -> {
              if (c == '"' || c == '\\' || c < ' ' || (c >= 0xD800 && c <= 0xDFFF)) {
                json.append(String.format("\\u%04x", c));
              } else {
                json.append((char) c);
              }
            });
    return json.append('"').toString();
  }

  /** A valid event after one to four corruptions. */
  static Arbitrary<byte[]> corrupted() {
    return corruptions()
        .list()
        .ofMinSize(1)
        .ofMaxSize(4)
        .map(
            corruptions -> {
              byte[] event = VALID.getBytes(UTF_8);
              for (Corruption corruption : corruptions) {
                event = corruption.applyTo(event);
              }
              return event;
            });
  }

  private static Arbitrary<Corruption> corruptions() {
    return Combinators.combine(
            Arbitraries.of(Corruption.Kind.class),
            Arbitraries.integers().between(0, VALID.length()),
            Arbitraries.integers().between(1, 40),
            Arbitraries.oneOf(
                Arbitraries.bytes().array(byte[].class).ofMinSize(1).ofMaxSize(4),
                Arbitraries.of(
                        "\"",
                        "{",
                        "}",
                        "[",
                        "]",
                        ",",
                        ":",
                        "\\",
                        "\0",
                        "\n",
                        "\uFEFF",
                        "null",
                        "7",
                        "NaN",
                        "\\ud83d",
                        "1e999999999",
                        "\"orderId\":\"p\",",
                        "/**/")
                    .map(text -> text.getBytes(UTF_8)),
                // Overlong and surrogate encodings and bytes that are invalid in UTF-8.
                Arbitraries.of(
                    new byte[] {(byte) 0xC0, (byte) 0x80},
                    new byte[] {(byte) 0xED, (byte) 0xA0, (byte) 0x80},
                    new byte[] {(byte) 0xF4, (byte) 0x90, (byte) 0x80, (byte) 0x80},
                    new byte[] {(byte) 0xFF, (byte) 0xFE})))
        .as(Corruption::new);
  }

  /** A corruption of some bytes of a record. */
  // Instances are never compared.
  @SuppressWarnings("ArrayRecordComponent")
  private record Corruption(Kind kind, int at, int length, byte[] more) {

    enum Kind {
      FLIP,
      CUT_OUT,
      CUT_OFF,
      INSERT,
      REPEAT,
      OVERWRITE
    }

    byte[] applyTo(byte[] event) {
      int from = Math.min(at, event.length);
      int to = Math.min(from + length, event.length);
      return switch (kind) {
        case FLIP -> {
          byte[] flipped = event.clone();
          if (from < to) {
            flipped[from] ^= (byte) (1 << (length % 8));
          }
          yield flipped;
        }
        case CUT_OUT -> join(List.of(part(event, 0, from), part(event, to, event.length)));
        case CUT_OFF -> part(event, 0, from);
        case INSERT -> join(List.of(part(event, 0, from), more, part(event, from, event.length)));
        case REPEAT -> join(List.of(part(event, 0, to), part(event, from, event.length)));
        case OVERWRITE -> join(List.of(part(event, 0, from), more, part(event, to, event.length)));
      };
    }

    private static byte[] part(byte[] bytes, int from, int to) {
      return Arrays.copyOfRange(bytes, from, to);
    }

    private static byte[] join(List<byte[]> parts) {
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      parts.forEach(all::writeBytes);
      return all.toByteArray();
    }
  }
}
