package io.ordertimeout.orders.platform.monitoring;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import org.springframework.stereotype.Component;

/**
 * Where the time between the deadline and the publication of a cancellation goes, stage by stage;
 * one value an order and stage. Thread-safe.
 */
@Component
public class DecisionDelays {

  private final Timer wheel;
  private final Timer gate;
  private final Timer database;
  private final Timer publish;

  DecisionDelays(MeterRegistry meters) {
    this.wheel = timer("wheel", meters);
    this.gate = timer("gate", meters);
    this.database = timer("database", meters);
    this.publish = timer("publish", meters);
  }

  private static Timer timer(String stage, MeterRegistry meters) {
    return Timer.builder("order.timeout.decision.delay")
        .description("Time from the deadline of a cancelled order to its publication, by stage")
        .tag("stage", stage)
        .serviceLevelObjectives(Activity.LATENESS_BOUNDS.toArray(Duration[]::new))
        .register(meters);
  }

  /** From the deadline, and the grace behind it, to the order being handed out as due. */
  public void wheel(Duration delay) {
    wheel.record(delay);
  }

  /** From there to the payment watermark having passed. */
  public void gate(Duration delay) {
    gate.record(delay);
  }

  /** From there to the decision being committed, with the wait for a thread. */
  public void database(Duration delay) {
    database.record(delay);
  }

  /** From there to Kafka's acknowledgement. */
  public void publish(Duration delay) {
    publish.record(delay);
  }
}
