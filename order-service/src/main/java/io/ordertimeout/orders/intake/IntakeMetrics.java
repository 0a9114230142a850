package io.ordertimeout.orders.intake;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.order.EventKind;
import io.ordertimeout.orders.order.Outcome;
import io.ordertimeout.orders.order.StoredBatch;
import io.ordertimeout.orders.platform.monitoring.ActivityCounters;
import io.ordertimeout.orders.platform.monitoring.AmountMetrics;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.stereotype.Component;

/** Metrics of the events read, counted once they are stored. Thread-safe. */
@Component
class IntakeMetrics {

  private static final String EVENTS = "order.timeout.events";
  private static final String EVENTS_DESCRIPTION = "Events read, by event type and outcome";

  /** The outcome of an event that became a dead letter. */
  private static final String DEAD_LETTER = "dead_letter";

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
    // Registered at startup, because rate() misses an increase from absent to 1.
    for (EventKind kind : kinds(properties.topics())) {
      Stream.of(Outcome.values())
          .filter(outcome -> outcome.isPossibleFor(kind))
          .forEach(outcome -> events(kind.tag(), outcome.tag()));
      events(kind.tag(), DEAD_LETTER);
      deadLetters(kind.tag());
    }
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

  /** What the input topics tell. */
  private static Set<EventKind> kinds(OrderTimeoutProperties.Topics topics) {
    Set<EventKind> kinds = EnumSet.allOf(EventKind.class);
    kinds.removeIf(
        kind ->
            switch (kind) {
              case CREATED, PAID, CLOSED -> false;
              case ATTEMPT -> !topics.haveAttempts();
              case CHANGED -> !topics.haveChanges();
            });
    return kinds;
  }

  void count(StoredBatch batch) {
    batch
        .outcomes()
        .forEach(
            (kind, outcomes) ->
                outcomes.forEach(
                    (outcome, count) -> events(kind.tag(), outcome.tag()).increment(count)));
    misplaced.increment(batch.misplaced());
    conflicts.increment(batch.conflicts().size());
    amounts.paid(batch.paidAmounts());
    activity.eventsStored(
        batch.count(EventKind.CREATED, Outcome.REGISTERED),
        batch.count(EventKind.PAID, Outcome.SETTLED),
        batch.count(EventKind.CLOSED, Outcome.SETTLED),
        batch.conflicts().size(),
        batch.outcomes().getOrDefault(EventKind.PAID, Map.of()).values().stream()
            .mapToInt(Integer::intValue)
            .sum());
  }

  void countDeadLetter(EventKind kind) {
    events(kind.tag(), DEAD_LETTER).increment();
    deadLetters(kind.tag()).increment();
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
