package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import org.junit.jupiter.api.Test;

class TimersConfigTest {

  private static final Duration TICK = Duration.ofMillis(10);

  @Test
  void defaultsAreValid() {
    Thread worker = TimersConfig.defaults("wheel").threadFactory().newThread(() -> {});

    assertThat(worker.getName()).isEqualTo("wheel");
    assertThat(worker.isDaemon()).isTrue();
  }

  @Test
  void buildsWhatWasSet() {
    ThreadFactory threads = Thread::new;
    Duration retryDelay = Duration.ofSeconds(3);
    Duration lateAfter = Duration.ofMinutes(1);

    TimersConfig config =
        TimersConfig.builder(threads)
            .tick(TICK)
            .batchSize(2)
            .queueCapacity(8)
            .retryDelay(retryDelay)
            .lateAfter(lateAfter)
            .build();

    assertThat(config).isEqualTo(new TimersConfig(threads, TICK, 2, 8, retryDelay, lateAfter));
  }

  @Test
  void messagesContainTheOffendingValue() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TimersConfig.builder(" "))
        .withMessage("threadName must not be blank: ' '");
    rejects(Duration.ZERO, 1, 1, TICK, "PT0S");
    rejects(Duration.ofNanos(1_500_000), 1, 1, TICK, "PT0.0015S");
    rejects(TICK, 0, 1, TICK, "batchSize must be at least 1: 0");
    rejects(TICK, 1, -4, TICK, "-4");
    rejects(TICK, 1, 1, Duration.ofMillis(-9), "retryDelay must be 1 ms to 1 day: PT-0.009S");
  }

  private static void rejects(
      Duration tick, int batchSize, int capacity, Duration retry, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new TimersConfig(Thread::new, tick, batchSize, capacity, retry, retry))
        .withMessageContaining(message);
  }
}
