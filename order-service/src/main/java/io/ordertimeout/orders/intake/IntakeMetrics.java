package io.ordertimeout.orders.intake;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.deadline.Outcome;
import io.ordertimeout.orders.deadline.StoredBatch;
import io.ordertimeout.orders.platform.monitoring.Activity;
import io.ordertimeout.orders.platform.monitoring.AmountMetrics;
import java.util.List;
import java.util.Map;
import org.springframework.stereotype.Component;

/** Counts what was read, once it is stored. Thread-safe. */
@Component
class IntakeMetrics {

  private static final String EVENTS = "order.timeout.events";
  private static final List<String> EVENTS_READ = List.of("created", "paid", "closed");
  private static final String EVENTS_HELP = "Events read, by what became of them";

  private final MeterRegistry meters;
  private final Counter conflicts;
  private final Counter misplaced;
  private final Counter replacedFields;
  private final Activity activity;
  private final AmountMetrics amounts;

  IntakeMetrics(MeterRegistry meters, Activity activity, AmountMetrics amounts) {
    this.meters = meters;
    this.activity = activity;
    this.amounts = amounts;
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
      for (String event : EVENTS_READ) {
        events(event, outcome.tag());
      }
    }
    EVENTS_READ.forEach(this::deadLetters);
  }

  void count(StoredBatch batch) {
    count("created", batch.created());
    count("paid", batch.paid());
    count("closed", batch.closed());
    misplaced.increment(batch.misplaced());
    conflicts.increment(batch.conflicts().size());
    amounts.paid(batch.paidAmounts());
    activity.read(
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

  void countReplacedFields(int count) {
    replacedFields.increment(count);
  }

  private void count(String event, Map<Outcome, Integer> outcomes) {
    outcomes.forEach((outcome, count) -> events(event, outcome.tag()).increment(count));
  }

  private Counter deadLetters(String event) {
    return Counter.builder("order.timeout.dead.letters")
        .description("Records put aside in their dead-letter topic")
        .tag("event", event)
        .register(meters);
  }

  private Counter events(String event, String outcome) {
    return Counter.builder(EVENTS)
        .description(EVENTS_HELP)
        .tag("event", event)
        .tag("outcome", outcome)
        .register(meters);
  }
}
