package io.ordertimeout.orders.intake;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.deadline.Outcome;
import io.ordertimeout.orders.deadline.RecordedBatch;
import java.util.Map;
import org.springframework.stereotype.Component;

/** Counts what was read, once it is stored. Thread-safe. */
@Component
class IntakeMetrics {

  private static final String EVENTS = "order.timeout.events";
  private static final String EVENTS_HELP = "Events read, by what became of them";

  private final MeterRegistry meters;
  private final Counter conflicts;
  private final Counter misplaced;
  private final Counter replacedFields;

  IntakeMetrics(MeterRegistry meters) {
    this.meters = meters;
    this.conflicts =
        Counter.builder("order.timeout.conflicts")
            .description("Payments that found their order cancelled or closed")
            .register(meters);
    this.misplaced =
        Counter.builder("order.timeout.misplaced.events")
            .description("Payments and closings from another partition than their order's")
            .register(meters);
    this.replacedFields =
        Counter.builder("order.timeout.replaced.fields")
            .description("Unusable fields of payments and closings that were replaced")
            .register(meters);
    for (Outcome outcome : Outcome.values()) {
      // Registered early, so that a rate over them has a first value.
      for (String event : new String[] {"created", "paid", "closed"}) {
        events(event, outcome.tag());
      }
    }
  }

  void count(RecordedBatch batch) {
    count("created", batch.created());
    count("paid", batch.paid());
    count("closed", batch.closed());
    misplaced.increment(batch.misplaced());
    conflicts.increment(batch.conflicts().size());
  }

  void countDeadLetter(String event) {
    events(event, "dead_letter").increment();
  }

  void countReplacedFields(int count) {
    replacedFields.increment(count);
  }

  private void count(String event, Map<Outcome, Integer> outcomes) {
    outcomes.forEach((outcome, count) -> events(event, outcome.tag()).increment(count));
  }

  private Counter events(String event, String outcome) {
    return Counter.builder(EVENTS)
        .description(EVENTS_HELP)
        .tag("event", event)
        .tag("outcome", outcome)
        .register(meters);
  }
}
