package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.OrderTimeoutProperties;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The timestamp of a record, as far as it is usable: a topic may leave it to the producer. */
final class RecordTime {

  /**
   * The earliest usable time. Kafka is younger than that; earlier times are -1 (none), 0, or
   * seconds that were taken for milliseconds.
   */
  private static final Instant EARLIEST = Instant.parse("2000-01-01T00:00:00Z");

  private RecordTime() {}

  /** Returns the timestamp, or null if it is not between 2000 and a day after the intake. */
  static @Nullable Instant of(RecordOrigin origin, Instant now) {
    Instant time = Instant.ofEpochMilli(origin.timestampMillis());
    return time.isBefore(EARLIEST) || isAhead(time, now) ? null : time;
  }

  /** Whether the time is further ahead of Postgres's clock than clocks may differ. */
  static boolean isAhead(Instant time, Instant now) {
    return time.isAfter(now.plus(OrderTimeoutProperties.Deadline.CLOCK_TOLERANCE));
  }
}
