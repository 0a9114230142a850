package io.ordertimeout.orders.platform.monitoring;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;

/** The registry of processing steps and their health. Thread-safe. */
@Component
public class StepHealthRegistry {

  private final Map<String, StepHealth> steps = new ConcurrentHashMap<>();
  private final MeterRegistry meters;

  public StepHealthRegistry(MeterRegistry meters) {
    this.meters = meters;
  }

  /** Returns the step of that name, and creates it on first use. */
  public StepHealth step(String name) {
    return steps.computeIfAbsent(name, this::register);
  }

  private StepHealth register(String name) {
    StepHealth step = new StepHealth(name, System::nanoTime);
    Gauge.builder("order.timeout.failing", step, s -> s.failingFor().toNanos() / 1e9)
        .description("How long the step has been failing without a success; 0 if it works")
        .baseUnit("seconds")
        .tag("step", name)
        .register(meters);
    return step;
  }

  /** The failing steps, by name, and how long each has been failing. */
  public Map<String, Duration> failing() {
    Map<String, Duration> failing = new TreeMap<>();
    steps.forEach(
        (name, step) -> {
          Duration duration = step.failingFor();
          if (!duration.isZero()) {
            failing.put(name, duration);
          }
        });
    return failing;
  }
}
