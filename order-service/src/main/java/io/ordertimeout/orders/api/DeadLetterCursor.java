package io.ordertimeout.orders.api;

import io.ordertimeout.orders.intake.deadletter.DeadLetterReader.DeadLetter;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Where a page of the dead letters of a topic ends.
 *
 * @param offsets by partition, the lowest offset that the pages so far have shown
 */
record DeadLetterCursor(Map<Integer, Long> offsets) {

  /** Reads the {@code next} of a page: {@code partition:offset}, separated by commas. */
  static DeadLetterCursor parse(@Nullable String after) {
    Map<Integer, Long> offsets = new TreeMap<>();
    if (after != null) {
      for (String position : after.split(",", -1)) {
        String[] parts = position.split(":", 2);
        try {
          offsets.put(Integer.valueOf(parts[0]), Long.valueOf(parts[parts.length - 1]));
        } catch (NumberFormatException e) {
          throw Page.invalid(after);
        }
      }
    }
    return new DeadLetterCursor(offsets);
  }

  /** Returns where a page ends that follows this one. */
  DeadLetterCursor behind(List<DeadLetter> page) {
    Map<Integer, Long> lowest = new TreeMap<>(offsets);
    page.forEach(letter -> lowest.merge(letter.partition(), letter.offset(), Math::min));
    return new DeadLetterCursor(lowest);
  }

  String text() {
    return offsets.entrySet().stream()
        .map(entry -> entry.getKey() + ":" + entry.getValue())
        .collect(Collectors.joining(","));
  }
}
