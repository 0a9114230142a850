package io.ordertimeout.orders.platform.monitoring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class PeriodicLoopTest {

  private final StepHealth step = new StepHealth("loop", System::nanoTime);
  private final AtomicInteger runs = new AtomicInteger();

  private final class Loop extends PeriodicLoop {

    Loop(Duration interval) {
      super(step, 0, interval, "nothing happens");
    }

    @Override
    protected void runTask() {
      runs.incrementAndGet();
    }
  }

  @Test
  void theTaskRunsAtItsInterval() {
    Loop loop = new Loop(Duration.ofMillis(1));
    loop.start();

    await().until(() -> runs.get() > 2);

    loop.stop();
  }

  @Test
  void aFailedTaskIsRepeatedSoonEvenIfItsIntervalIsLong() {
    Loop loop = new Loop(Duration.ofDays(1));
    step.failed("nothing happens", new IllegalStateException("no connection"));
    loop.start();

    await().until(() -> step.failingFor().isZero());

    loop.stop();
    assertThat(runs).hasValue(1);
  }
}
