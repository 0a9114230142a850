package io.ordertimeout.orders.platform.values;

import java.time.Duration;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * The types of Debezium and Kafka Connect whose values are numbers: the name of a schema says the
 * unit, and that a time has no zone, as columns of type {@code timestamp} or {@code DATETIME}.
 *
 * @see <a href="https://debezium.io/documentation/reference/stable/connectors/postgresql.html">
 *     Debezium's types</a>
 */
public final class ConnectTypes {

  private ConnectTypes() {}

  /**
   * Returns the text that a number means: a time without an offset, a date, or a duration.
   *
   * @param name the name of the number's schema
   * @return null if the name says nothing about the number
   * @throws java.time.DateTimeException if the number is too large for its type
   */
  public static @Nullable String text(@Nullable String name, long number) {
    return switch (name == null ? "" : name) {
      case "io.debezium.time.Timestamp", "org.apache.kafka.connect.data.Timestamp" ->
          StatedTime.local(number, ChronoUnit.MILLIS);
      case "io.debezium.time.MicroTimestamp" -> StatedTime.local(number, ChronoUnit.MICROS);
      case "io.debezium.time.NanoTimestamp" -> StatedTime.local(number, ChronoUnit.NANOS);
      case "io.debezium.time.Date", "org.apache.kafka.connect.data.Date" ->
          LocalDate.ofEpochDay(number).toString();
      case "io.debezium.time.MicroDuration" -> Duration.of(number, ChronoUnit.MICROS).toString();
      case "io.debezium.time.NanoDuration" -> Duration.ofNanos(number).toString();
      default -> null;
    };
  }
}
