package io.ordertimeout.orders.platform.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class PeriodicTasksTest {

  private static final Duration SHORT = Duration.ofMillis(1);

  private final StepHealthRegistry steps = new StepHealthRegistry(new SimpleMeterRegistry());
  private final PeriodicTasks tasks = new PeriodicTasks(steps);
  private final AtomicInteger runs = new AtomicInteger();

  @AfterEach
  void stop() {
    tasks.stop();
  }

  @Test
  void aTaskIsRepeatedAtItsInterval() {
    tasks.repeat("count", SHORT, "nothing is counted", runs::incrementAndGet);
    tasks.start();

    await().until(() -> runs.get() > 2);
  }

  @Test
  void aFailedTaskIsRepeatedSoonEvenIfItsIntervalIsLong() {
    tasks.repeat("count", Duration.ofDays(1), "nothing is counted", runs::incrementAndGet);
    steps.step("count").failed("nothing is counted", new IllegalStateException("no connection"));
    tasks.start();

    await().until(() -> steps.step("count").failingFor().isZero());

    assertThat(runs).hasValue(1);
  }

  @Test
  void aTaskThatFailsOrHangsDelaysNoOther() {
    tasks.repeat(
        "fail",
        SHORT,
        "nothing happens",
        () -> {
          throw new NoClassDefFoundError("gone");
        });
    tasks.repeat("hang", SHORT, "nothing happens", () -> new CountDownLatch(1).await());
    tasks.repeat("count", SHORT, "nothing is counted", runs::incrementAndGet);
    tasks.start();

    await().until(() -> steps.failing().containsKey("fail"));
    await().until(() -> runs.get() > 2);
    assertThat(steps.failing()).containsOnlyKeys("fail");
    assertThat(tasks.endedThreads()).isEmpty();
  }

  @Test
  void noTaskRunsAfterTheStop() {
    tasks.repeat("count", SHORT, "nothing is counted", runs::incrementAndGet);
    tasks.start();
    await().until(() -> runs.get() > 2);

    tasks.stop();

    int before = runs.get();
    await().during(Duration.ofMillis(50)).until(() -> runs.get() == before);
    assertThat(tasks.endedThreads()).isEmpty();
  }
}
