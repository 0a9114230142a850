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
 * A span of an order's trace that has started. Its times are Postgres's, so that those of several
 * instances fit together. One that is never ended is never exported.
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

  /** What makes another span a child of this one (W3C Trace Context). */
  public String traceparent() {
    Map<String, String> fields = new HashMap<>();
    propagator.inject(span.context(), fields, (carrier, name, value) -> fields.put(name, value));
    return Objects.requireNonNull(fields.get(TRACEPARENT));
  }

  /** Lets whoever reads a record with these headers go on with the trace. */
  public void passOn(Headers headers) {
    headers.add(TRACEPARENT, traceparent().getBytes(StandardCharsets.US_ASCII));
  }

  /** Ends it now. */
  public void end() {
    end(clock.now());
  }

  /** Ends it now, as one that failed. */
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
