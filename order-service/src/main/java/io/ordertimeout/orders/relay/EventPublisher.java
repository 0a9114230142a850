package io.ordertimeout.orders.relay;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.outbox.EventId;
import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderCancelled;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderExpiring;
import io.ordertimeout.orders.outbox.OutboxEvent.PaymentConflict;
import io.ordertimeout.orders.platform.kafka.TopicSenders;
import io.ordertimeout.orders.platform.monitoring.ActivityCounters;
import io.ordertimeout.orders.platform.monitoring.DecisionDelayMetrics;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.platform.tracing.OrderSpan;
import io.ordertimeout.orders.platform.tracing.OrderTraces;
import io.ordertimeout.orders.suspension.Suspensions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Sends events to Kafka and measures the lateness of the cancellations. Thread-safe. */
@Component
class EventPublisher {

  private final EventSerializer serializer;
  private final TopicSenders senders;
  private final DatabaseClock clock;
  private final ActivityCounters activity;
  private final DecisionDelayMetrics delays;
  private final OrderTraces traces;
  private final OrderTimeoutProperties.Topics topics;
  private final Suspensions suspensions;
  private final Timer lateness;
  private final Timer latenessAfterPause;
  private final Timer warningLateness;
  private final Timer warningLatenessAfterPause;

  EventPublisher(
      EventSerializer serializer,
      TopicSenders senders,
      DatabaseClock clock,
      ActivityCounters activity,
      DecisionDelayMetrics delays,
      OrderTraces traces,
      Suspensions suspensions,
      OrderTimeoutProperties properties,
      MeterRegistry meters) {
    this.serializer = serializer;
    this.senders = senders;
    this.clock = clock;
    this.activity = activity;
    this.delays = delays;
    this.traces = traces;
    this.suspensions = suspensions;
    this.topics = properties.topics();
    this.lateness = lateness(false, meters);
    this.latenessAfterPause = lateness(true, meters);
    this.warningLateness = warningLateness(false, meters);
    this.warningLatenessAfterPause = warningLateness(true, meters);
  }

  private static Timer lateness(boolean paused, MeterRegistry meters) {
    return Timer.builder("order.timeout.lateness")
        .description(
            "Acknowledged publication of a cancellation minus its payment deadline and the grace")
        .tag("paused", String.valueOf(paused))
        .serviceLevelObjectives(ActivityCounters.LATENESS_BOUNDS.toArray(Duration[]::new))
        .register(meters);
  }

  private static Timer warningLateness(boolean paused, MeterRegistry meters) {
    return Timer.builder("order.timeout.warning.lateness")
        .description("Acknowledged publication of a warning minus its time")
        .tag("paused", String.valueOf(paused))
        .serviceLevelObjectives(ActivityCounters.LATENESS_BOUNDS.toArray(Duration[]::new))
        .register(meters);
  }

  /** The topic that the event is published to. */
  String topic(OutboxEvent event) {
    if (event instanceof OrderExpiring) {
      return topics.expiring();
    }
    return event instanceof PaymentConflict ? topics.conflict() : topics.cancelled();
  }

  /**
   * Prepares for events of a topic.
   *
   * @return completes on any thread; exceptionally if it has to be repeated
   */
  CompletableFuture<?> prepare(String topic) {
    return serializer.prepare(topic);
  }

  /** All topics that events are published to. */
  List<String> topics() {
    return topics.outputs();
  }

  /** Whether the event must not be sent any more: a warning, once the deadline has passed. */
  boolean isOver(OutboxEvent event) {
    return event instanceof OrderExpiring expiring
        && (!topics.haveWarnings() || !clock.now().isBefore(expiring.deadline()));
  }

  /**
   * Sends an event; never blocks and never throws.
   *
   * @return completes on any thread, once Kafka has acknowledged the event
   */
  CompletableFuture<RecordMetadata> send(OutboxEvent event) {
    try {
      ProducerRecord<byte[], byte[]> record = serializer.serialize(event);
      OrderSpan span = span(event, record);
      CompletableFuture<RecordMetadata> sent = senders.send(record);
      CompletableFuture<RecordMetadata> unused =
          sent.whenComplete((metadata, failure) -> completed(event, span, failure));
      return sent;
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private @Nullable OrderSpan span(OutboxEvent event, ProducerRecord<?, ?> record) {
    String traceparent = event.envelope().traceparent();
    if (traceparent == null) {
      return null;
    }
    OrderSpan span =
        traces.startPublication(traceparent, event.orderId(), record.topic(), EventId.of(event));
    if (span != null) {
      span.injectInto(record.headers());
    }
    return span;
  }

  private void completed(OutboxEvent event, @Nullable OrderSpan span, @Nullable Throwable failure) {
    if (failure == null) {
      measure(event);
    }
    if (span != null) {
      if (failure == null) {
        span.end();
      } else {
        span.fail(failure);
      }
    }
  }

  private void measure(OutboxEvent event) {
    if (event instanceof OrderExpiring expiring) {
      boolean isDelayed =
          suspensions.mayHaveDelayed(expiring.dueAt(), expiring.envelope().writtenAt());
      (isDelayed ? warningLatenessAfterPause : warningLateness)
          .record(Duration.between(expiring.dueAt(), clock.now()));
    }
    if (event instanceof OrderCancelled cancelled) {
      Instant now = clock.now();
      Instant due = cancelled.dueAt();
      Duration late = Duration.between(due, now);
      delays.publish(Duration.between(cancelled.envelope().writtenAt(), now));
      if (suspensions.mayHaveDelayed(due, cancelled.cancelledAt())) {
        latenessAfterPause.record(late);
      } else {
        lateness.record(late);
        activity.published(late);
      }
    }
  }
}
