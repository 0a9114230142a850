package io.ordertimeout.orders.relay;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.outbox.EventId;
import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderCancelled;
import io.ordertimeout.orders.platform.kafka.RecoveringProducer;
import io.ordertimeout.orders.platform.monitoring.ActivityCounters;
import io.ordertimeout.orders.platform.monitoring.DecisionDelayMetrics;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.platform.tracing.OrderSpan;
import io.ordertimeout.orders.platform.tracing.OrderTraces;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Sends a batch of events to Kafka, awaits all acknowledgements, and measures the lateness of the
 * cancellations. Thread-safe.
 */
@Component
class EventPublisher {

  private static final Logger log = LoggerFactory.getLogger(EventPublisher.class);

  private final EventSerializer serializer;
  private final RecoveringProducer producer;
  private final DatabaseClock clock;
  private final ActivityCounters activity;
  private final DecisionDelayMetrics delays;
  private final OrderTraces traces;
  private final List<String> topics;
  private final Duration settlementGrace;
  private final Timer lateness;

  EventPublisher(
      EventSerializer serializer,
      RecoveringProducer producer,
      DatabaseClock clock,
      ActivityCounters activity,
      DecisionDelayMetrics delays,
      OrderTraces traces,
      OrderTimeoutProperties properties,
      MeterRegistry meters) {
    this.serializer = serializer;
    this.producer = producer;
    this.clock = clock;
    this.activity = activity;
    this.delays = delays;
    this.traces = traces;
    this.topics = List.of(properties.topics().cancelled(), properties.topics().conflict());
    this.settlementGrace = properties.expiry().settlementGrace();
    this.lateness =
        Timer.builder("order.timeout.lateness")
            .description(
                "Acknowledged publication of a cancellation minus its payment deadline and the grace")
            .serviceLevelObjectives(ActivityCounters.LATENESS_BOUNDS.toArray(Duration[]::new))
            .register(meters);
  }

  /** Fetches the topics' metadata, so that the first cancellation does not have to wait for it. */
  void prepare() {
    try {
      topics.forEach(producer::partitionsFor);
    } catch (KafkaException e) {
      log.warn(
          "Kafka does not answer; the first event will wait for the topics' metadata: {}",
          e.toString());
    }
  }

  /**
   * The result of publishing a batch.
   *
   * @param acknowledged the events that Kafka acknowledged
   * @param failure the last failure; null if Kafka acknowledged all events
   */
  record Publication(List<OutboxEvent> acknowledged, @Nullable Throwable failure) {}

  /** Publishes events. After an immediate failure, the rest of the batch is not sent. */
  Publication publish(List<OutboxEvent> batch) throws InterruptedException {
    List<Future<RecordMetadata>> sent = new ArrayList<>(batch.size());
    for (OutboxEvent event : batch) {
      Future<RecordMetadata> future = send(event);
      sent.add(future);
      // An immediate failure means that Kafka is unavailable: each further send would block as
      // long.
      if (future.isDone() && failure(future) != null) {
        break;
      }
    }
    List<OutboxEvent> acknowledged = new ArrayList<>(batch.size());
    Throwable lastFailure = null;
    for (int i = 0; i < sent.size(); i++) {
      Throwable failure = failure(sent.get(i));
      if (failure == null) {
        acknowledged.add(batch.get(i));
      } else {
        lastFailure = failure;
      }
    }
    return new Publication(acknowledged, lastFailure);
  }

  private Future<RecordMetadata> send(OutboxEvent event) {
    ProducerRecord<byte[], byte[]> record = serializer.serialize(event);
    String traceparent = event.envelope().traceparent();
    OrderSpan span =
        traceparent == null
            ? null
            : traces.startPublication(
                traceparent, event.orderId(), record.topic(), EventId.of(event));
    if (span != null) {
      span.injectInto(record.headers());
    }
    return producer.send(
        record,
        (metadata, failure) -> {
          if (failure == null) {
            measure(event);
          }
          end(span, failure);
        });
  }

  private static void end(@Nullable OrderSpan span, @Nullable Throwable failure) {
    if (span == null) {
      return;
    }
    if (failure == null) {
      span.end();
    } else {
      span.fail(failure);
    }
  }

  private static @Nullable Throwable failure(Future<RecordMetadata> future)
      throws InterruptedException {
    try {
      future.get();
      return null;
    } catch (ExecutionException e) {
      return e.getCause() == null ? e : e.getCause();
    }
  }

  private void measure(OutboxEvent event) {
    if (event instanceof OrderCancelled cancelled) {
      Instant now = clock.now();
      Duration late = Duration.between(cancelled.deadline().plus(settlementGrace), now);
      lateness.record(late);
      delays.publish(Duration.between(cancelled.envelope().writtenAt(), now));
      activity.published(late);
    }
  }
}
