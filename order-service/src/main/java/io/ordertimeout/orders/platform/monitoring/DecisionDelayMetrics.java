package io.ordertimeout.orders.platform.monitoring;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import org.springframework.stereotype.Component;

/**
 * Metrics of the time from the deadline of a cancelled order to its publication, split into
 * consecutive stages; one value per order and stage. Thread-safe.
 */
@Component
public class DecisionDelayMetrics {

  private final Timer wheel;
  private final Timer gate;
  private final Timer database;
  private final Timer publish;

  DecisionDelayMetrics(MeterRegistry meters) {
    this.wheel = timer("wheel", meters);
    this.gate = timer("gate", meters);
    this.database = timer("database", meters);
    this.publish = timer("publish", meters);
  }

  private static Timer timer(String stage, MeterRegistry meters) {
    return Timer.builder("order.timeout.decision.delay")
        .description("Time from the deadline of a cancelled order to its publication, by stage")
        .tag("stage", stage)
        .serviceLevelObjectives(ActivityCounters.LATENESS_BOUNDS.toArray(Duration[]::new))
        .register(meters);
  }

  /** From the end of the settlement grace until the wheel hands the order out as due. */
  public void wheel(Duration delay) {
    record(wheel, delay);
  }

  /** From there until the payment watermark has passed the deadline. */
  public void gate(Duration delay) {
    record(gate, delay);
  }

  /** From there until the decision is committed, including the wait for a thread. */
  public void database(Duration delay) {
    record(database, delay);
  }

  /** From there until Kafka acknowledges the event. */
  public void publish(Duration delay) {
    record(publish, delay);
  }

  /** The times of a stage may come from two clocks, of which one is an estimate of the other. */
  private static void record(Timer timer, Duration delay) {
    timer.record(delay.isNegative() ? Duration.ZERO : delay);
  }
}
