package io.ordertimeout.orders.intake;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.order.Outcome;
import io.ordertimeout.orders.order.StoredBatch;
import io.ordertimeout.orders.platform.monitoring.ActivityCounters;
import io.ordertimeout.orders.platform.monitoring.AmountMetrics;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.stereotype.Component;

/** Metrics of the events read, counted once they are stored. Thread-safe. */
@Component
class IntakeMetrics {

  private static final String EVENTS = "order.timeout.events";
  private static final List<String> EVENT_TYPES =
      List.of("created", "paid", "closed", "attempt", "changed");
  private static final String EVENTS_DESCRIPTION = "Events read, by event type and outcome";

  private final MeterRegistry meters;
  private final Counter conflicts;
  private final Counter misplaced;
  private final Counter ignored;
  private final ActivityCounters activity;
  private final AmountMetrics amounts;

  IntakeMetrics(
      MeterRegistry meters,
      ActivityCounters activity,
      AmountMetrics amounts,
      OrderTimeoutProperties properties) {
    this.meters = meters;
    this.activity = activity;
    this.amounts = amounts;
    this.conflicts =
        Counter.builder("order.timeout.conflicts")
            .description("Payments whose order was already cancelled or closed")
            .register(meters);
    this.misplaced =
        Counter.builder("order.timeout.misplaced.events")
            .description(
                "Events of settling topics that were read from a different partition than their order")
            .register(meters);
    this.ignored =
        Counter.builder("order.timeout.ignored.records")
            .description(
                "Records without an event that matters: of ignored types, deleted rows, tombstones")
            .register(meters);
    for (Outcome outcome : Outcome.values()) {
      // Registered at startup, because rate() misses an increase from absent to 1.
      for (String event : EVENT_TYPES) {
        events(event, outcome.tag());
      }
    }
    EVENT_TYPES.forEach(this::deadLetters);
    OrderTimeoutProperties.Fields names = properties.intake().fields();
    Stream.of(
            names.channel(),
            names.paymentMethod(),
            names.amount(),
            names.paymentId(),
            names.paidAt(),
            names.closedAt(),
            names.reason())
        .forEach(this::replacedFields);
  }

  void count(StoredBatch batch) {
    count("created", batch.created());
    count("paid", batch.paid());
    count("closed", batch.closed());
    count("attempt", batch.attempts());
    count("changed", batch.changes());
    misplaced.increment(batch.misplaced());
    conflicts.increment(batch.conflicts().size());
    amounts.paid(batch.paidAmounts());
    activity.eventsStored(
        batch.created().getOrDefault(Outcome.REGISTERED, 0),
        batch.paid().getOrDefault(Outcome.SETTLED, 0),
        batch.closed().getOrDefault(Outcome.SETTLED, 0),
        batch.conflicts().size(),
        batch.paid().values().stream().mapToInt(Integer::intValue).sum());
  }

  void countDeadLetter(String event) {
    events(event, "dead_letter").increment();
    deadLetters(event).increment();
  }

  void countReplaced(List<String> fields) {
    fields.forEach(field -> replacedFields(field).increment());
  }

  private Counter replacedFields(String field) {
    return Counter.builder("order.timeout.replaced.fields")
        .description(
            "Unusable fields that were left out or replaced, and unusable record timestamps in"
                + " place of missing times")
        .tag("field", field)
        .register(meters);
  }

  void countIgnored(int count) {
    ignored.increment(count);
  }

  private void count(String event, Map<Outcome, Integer> outcomes) {
    outcomes.forEach((outcome, count) -> events(event, outcome.tag()).increment(count));
  }

  private Counter deadLetters(String event) {
    return Counter.builder("order.timeout.dead.letters")
        .description("Records written to a dead-letter topic")
        .tag("event", event)
        .register(meters);
  }

  private Counter events(String event, String outcome) {
    return Counter.builder(EVENTS)
        .description(EVENTS_DESCRIPTION)
        .tag("event", event)
        .tag("outcome", outcome)
        .register(meters);
  }
}
