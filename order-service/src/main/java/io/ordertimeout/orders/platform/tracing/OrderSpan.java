package io.ordertimeout.orders.platform.tracing;

import io.micrometer.tracing.Span;
import io.micrometer.tracing.propagation.Propagator;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.header.Headers;

/**
 * A started span in the trace of an order. Its timestamps come from Postgres's clock, so that spans
 * of different instances line up. A span that is never ended is never exported.
 */
public final class OrderSpan {

  static final String TRACEPARENT = "traceparent";
  static final TimeUnit UNIT = TimeUnit.MICROSECONDS;

  private final Span span;
  private final Propagator propagator;
  private final DatabaseClock clock;

  OrderSpan(Span span, Propagator propagator, DatabaseClock clock) {
    this.span = span;
    this.propagator = propagator;
    this.clock = clock;
  }

  /** The {@code traceparent} of this span (W3C Trace Context), for its child spans. */
  public String traceparent() {
    Map<String, String> fields = new HashMap<>();
    propagator.inject(span.context(), fields, (carrier, name, value) -> fields.put(name, value));
    return Objects.requireNonNull(fields.get(TRACEPARENT));
  }

  /**
   * Adds this span's context to the headers, so that the record's consumer can continue the trace.
   */
  public void injectInto(Headers headers) {
    headers.add(TRACEPARENT, traceparent().getBytes(StandardCharsets.US_ASCII));
  }

  /** Ends the span now. */
  public void end() {
    end(clock.now());
  }

  /** Ends the span now, with an error. */
  public void fail(Throwable failure) {
    span.error(failure);
    end();
  }

  void end(Instant at) {
    span.end(micros(at), UNIT);
  }

  static long micros(Instant time) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, time);
  }
}
