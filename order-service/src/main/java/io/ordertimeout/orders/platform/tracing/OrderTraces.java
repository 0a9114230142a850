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
 * The traces of orders, from the {@code order-created} record to the published decision. In
 * between, which may take days and several instances, the trace context is stored as a {@code
 * traceparent} in the order's row. If tracing is off, there is no propagator and no span is
 * created. Thread-safe.
 *
 * <p>Names and attributes follow OpenTelemetry's semantic conventions for messaging. The only
 * attribute taken from an order is its id, by which its trace can be found.
 */
@Component
public class OrderTraces {

  private static final String ORDER_ID = "order.id";

  /** Longer headers are ignored: W3C Trace Context requires 512 characters of a tracestate. */
  private static final int MAX_HEADER_LENGTH = 512;

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
   * Starts the span for the intake of a created order, as a child of the context in the record's
   * headers, or as the root of a new trace if they contain none that is valid.
   *
   * @return null if tracing is off or the trace is not sampled
   */
  public @Nullable OrderSpan startIntake(
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
   * @param traceparent the trace context stored with the order
   */
  public void recordExpiry(
      String traceparent, String orderId, Instant deadline, Instant cancelledAt) {
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
   * Starts the span for publishing an event of an order.
   *
   * @param traceparent the trace context stored with the order
   * @return null if tracing is off or the trace is not sampled
   */
  public @Nullable OrderSpan startPublication(
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

  /** Needs no validation: the propagator ignores a malformed context. */
  private static @Nullable String text(Headers headers, String name) {
    Header header = headers.lastHeader(name);
    byte @Nullable [] value = header == null ? null : header.value();
    return value == null || value.length > MAX_HEADER_LENGTH
        ? null
        : new String(value, StandardCharsets.UTF_8);
  }
}
