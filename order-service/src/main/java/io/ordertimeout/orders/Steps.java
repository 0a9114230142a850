package io.ordertimeout.orders;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;

/** The steps of the way that can fail for a while, and which of them do. Thread-safe. */
@Component
public class Steps {

  private final Map<String, Step> steps = new ConcurrentHashMap<>();
  private final MeterRegistry meters;

  Steps(MeterRegistry meters) {
    this.meters = meters;
  }

  /** The step of that name; the same one every time. */
  public Step step(String name) {
    return steps.computeIfAbsent(name, this::register);
  }

  private Step register(String name) {
    Step step = new Step(name, System::nanoTime);
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
