package io.ordertimeout.orders.platform.tracing;

import io.micrometer.tracing.Span;
import io.micrometer.tracing.propagation.Propagator;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.UUID;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.stereotype.Component;

/**
 * The traces of orders, from the record of a creation to those that tell of its end. In between,
 * which may be days and several instances, a trace is a {@code traceparent} in the order's row.
 * Where traces are off there is no propagator, and no span is made. Thread-safe.
 *
 * <p>Names and attributes are those of OpenTelemetry's semantic conventions for messaging. Of an
 * order its id is told, by which one looks for its trace, and nothing else.
 */
@Component
public class OrderTraces {

  private static final String ORDER_ID = "order.id";

  /** The conventions ask that no more of a tracestate is kept; a traceparent is far shorter. */
  private static final int LONGEST_HEADER = 512;

  private final @Nullable Propagator propagator;
  private final DatabaseClock clock;
  private final String groupId;

  OrderTraces(
      ObjectProvider<Propagator> propagator,
      DatabaseClock clock,
      OrderTimeoutProperties properties) {
    this.propagator = propagator.getIfAvailable();
    this.clock = clock;
    this.groupId = properties.intake().groupId();
  }

  /**
   * Starts the span of taking an order in: a child of what the record's headers tell, or the first
   * of a trace if they tell nothing usable. Null if the trace is not sampled.
   */
  public @Nullable OrderSpan takeIn(
      String orderId, String topic, int partition, long offset, Headers headers) {
    if (propagator == null) {
      return null;
    }
    Span.Builder span =
        messaging(propagator.extract(headers, OrderTraces::text), "process", topic, orderId)
            .kind(Span.Kind.CONSUMER)
            .tag("messaging.consumer.group.name", groupId)
            .tag("messaging.destination.partition.id", Integer.toString(partition))
            .tag("messaging.kafka.offset", offset);
    return start(span, clock.now(), propagator);
  }

  /**
   * Records the span from an order's payment deadline to its cancellation.
   *
   * @param traceparent the one kept with the order
   */
  public void expired(String traceparent, String orderId, Instant deadline, Instant cancelledAt) {
    if (propagator == null) {
      return;
    }
    Span.Builder span = childOf(traceparent, propagator).name("expire").tag(ORDER_ID, orderId);
    OrderSpan started = start(span, deadline, propagator);
    if (started != null) {
      started.end(cancelledAt);
    }
  }

  /**
   * Starts the span of publishing an event of an order. Null where traces are off.
   *
   * @param traceparent the one kept with the order
   */
  public @Nullable OrderSpan publish(
      String traceparent, String orderId, String topic, UUID eventId) {
    if (propagator == null) {
      return null;
    }
    Span.Builder span =
        messaging(childOf(traceparent, propagator), "send", topic, orderId)
            .kind(Span.Kind.PRODUCER)
            .tag("messaging.message.id", eventId.toString());
    return start(span, clock.now(), propagator);
  }

  private static Span.Builder messaging(
      Span.Builder span, String operation, String topic, String orderId) {
    return span.name(operation + " " + topic)
        .tag("messaging.system", "kafka")
        .tag("messaging.operation.name", operation)
        .tag("messaging.operation.type", operation)
        .tag("messaging.destination.name", topic)
        .tag(ORDER_ID, orderId);
  }

  private static Span.Builder childOf(String traceparent, Propagator propagator) {
    return propagator.extract(
        traceparent, (parent, name) -> OrderSpan.TRACEPARENT.equals(name) ? parent : null);
  }

  private @Nullable OrderSpan start(Span.Builder builder, Instant at, Propagator propagator) {
    Span span = builder.startTimestamp(OrderSpan.micros(at), OrderSpan.UNIT).start();
    return span.isNoop() ? null : new OrderSpan(span, propagator, clock);
  }

  /** What the propagator makes nothing of it ignores, so text that is none needs no care. */
  private static @Nullable String text(Headers headers, String name) {
    Header header = headers.lastHeader(name);
    byte @Nullable [] value = header == null ? null : header.value();
    return value == null || value.length > LONGEST_HEADER
        ? null
        : new String(value, StandardCharsets.UTF_8);
  }
}
