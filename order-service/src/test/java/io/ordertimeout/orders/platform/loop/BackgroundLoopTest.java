package io.ordertimeout.orders.platform.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.orders.platform.monitoring.StepHealth;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class BackgroundLoopTest {

  private final StepHealth step = StepHealth.withoutReadiness("loop");
  private final AtomicInteger runs = new AtomicInteger();
  private volatile Runnable task = () -> {};
  private final Loop loop = new Loop();

  private final class Loop extends BackgroundLoop {

    private volatile Thread thread = Thread.currentThread();

    Loop() {
      super(step, 0, Duration.ofMillis(1), "nothing happens");
    }

    @Override
    protected void runOnce() throws InterruptedException {
      thread = Thread.currentThread();
      runs.incrementAndGet();
      task.run();
      step.succeeded();
      Thread.sleep(1);
    }
  }

  @AfterEach
  void stop() {
    loop.stop();
  }

  @Test
  void anErrorIsReportedAndTheNextRunStarts() {
    task =
        () -> {
          throw new NoClassDefFoundError("gone");
        };
    loop.start();
    awaitMoreRuns();
    assertThat(step.failingFor()).isPositive();

    task = () -> {};

    await().until(() -> step.failingFor().isZero());
    assertThat(loop.endedThreads()).isEmpty();
  }

  @Test
  void anInterruptThatDoesNotStopTheLoopEndsOneRun() {
    loop.start();
    awaitMoreRuns();

    loop.thread.interrupt();

    awaitMoreRuns();
    assertThat(loop.endedThreads()).isEmpty();
  }

  @Test
  void aStoppedLoopHasNoEndedThreads() {
    loop.start();
    awaitMoreRuns();
    loop.stop();

    assertThat(loop.isRunning()).isFalse();
    assertThat(loop.thread.isAlive()).isFalse();
    assertThat(loop.endedThreads()).isEmpty();
  }

  private void awaitMoreRuns() {
    int before = runs.get();
    await().until(() -> runs.get() > before + 2);
  }
}
