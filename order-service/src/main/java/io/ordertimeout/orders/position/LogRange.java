package io.ordertimeout.orders.position;

import org.jspecify.annotations.Nullable;

/**
 * From where to where the log of a partition reaches at present.
 *
 * @param begin the offset of its first record
 * @param end the offset behind its last record, or the first one whose record was replaced by
 *     another
 */
public record LogRange(String topicId, long begin, long end) {

  /** Returns what has happened to records from a position on; null if the log contains them all. */
  public @Nullable String loss(Position position) {
    long next = position.nextOffset();
    if (!position.topicId().equals(topicId)) {
      return "the topic was recreated; records of the old topic from offset %d on are gone"
          .formatted(next);
    }
    if (isBefore(position)) {
      return "the log ends at offset %d, before the position %d: Kafka has lost records"
          .formatted(end, next);
    }
    if (next < begin) {
      return "offsets %d to %d were deleted before they were read".formatted(next, begin - 1);
    }
    return null;
  }

  /** Returns whether the log of the same topic ends before a position. */
  public boolean isBefore(Position position) {
    return position.topicId().equals(topicId) && position.nextOffset() > end;
  }
}
