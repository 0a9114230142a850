package io.ordertimeout.local;

import io.ordertimeout.orders.operator.status.Pause;
import io.ordertimeout.orders.operator.status.Pause.PlacedBy;
import io.ordertimeout.orders.order.PastDueOrders.Total;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What the report says about pauses of expiry: one line for each, and one for the orders that wait
 * because of them. Immutable.
 *
 * @param console where an operator can end a pause
 * @param zone the time zone of the times
 */
record PauseReport(String console, ZoneId zone) {

  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");

  /** Returns the lines; none without a pause. */
  List<String> lines(List<Pause> pauses, Total waiting) {
    List<String> lines = new ArrayList<>(pauses.stream().map(this::describe).toList());
    if (!lines.isEmpty()) {
      lines.add(describe(waiting));
    }
    return lines;
  }

  private String describe(Pause pause) {
    return "Expiry%s was paused by %s at %s: %s. To end the pause, open %s"
        .formatted(
            pause.channel() == null ? "" : " of channel " + pause.channel(),
            pause.placedByKind() == PlacedBy.BREAKER ? "the circuit breaker" : pause.placedBy(),
            TIME.withZone(zone).format(pause.beganAt()),
            pause.reason(),
            console);
  }

  private static String describe(Total waiting) {
    return String.format(
        Locale.ROOT,
        "Orders past their deadlines that wait for the end of a pause: %s%d%s",
        waiting.complete() ? "" : "at least ",
        waiting.orders(),
        waiting.amounts().isEmpty()
            ? ""
            : new TreeMap<>(waiting.amounts())
                .entrySet().stream()
                    .map(amount -> amount.getValue().toPlainString() + " " + amount.getKey())
                    .collect(Collectors.joining(", ", " (", ")")));
  }
}
