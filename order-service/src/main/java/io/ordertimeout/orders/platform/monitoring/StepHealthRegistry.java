package io.ordertimeout.orders.platform.monitoring;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;

/** The steps of the way that can fail for a while, and which of them do. Thread-safe. */
@Component
public class StepHealthRegistry {

  private final Map<String, StepHealth> steps = new ConcurrentHashMap<>();
  private final MeterRegistry meters;

  StepHealthRegistry(MeterRegistry meters) {
    this.meters = meters;
  }

  /** The step of that name; the same one every time. */
  public StepHealth step(String name) {
    return steps.computeIfAbsent(name, this::register);
  }

  private StepHealth register(String name) {
    StepHealth step = new StepHealth(name, System::nanoTime);
    Gauge.builder("order.timeout.failing", step, s -> s.failing().toNanos() / 1e9)
        .description("For how long a step has been failing without a success in between")
        .baseUnit("seconds")
        .tag("step", name)
        .register(meters);
    return step;
  }

  /** The steps that fail now, and for how long they have. */
  public Map<String, Duration> failing() {
    Map<String, Duration> failing = new TreeMap<>();
    steps.forEach(
        (name, step) -> {
          Duration duration = step.failing();
          if (!duration.isZero()) {
            failing.put(name, duration);
          }
        });
    return failing;
  }
}
