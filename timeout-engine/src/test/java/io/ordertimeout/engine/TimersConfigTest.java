package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class TimersConfigTest {

  private static final Duration TICK = Duration.ofMillis(10);

  @Test
  void defaultsAreValid() {
    assertThat(TimersConfig.defaults("wheel").threadName()).isEqualTo("wheel");
  }

  @Test
  void messagesContainTheOffendingValue() {
    rejects(" ", TICK, 1, 1, TICK, "threadName must not be blank: ' '");
    rejects("w", Duration.ZERO, 1, 1, TICK, "PT0S");
    rejects("w", Duration.ofNanos(1_500_000), 1, 1, TICK, "PT0.0015S");
    rejects("w", TICK, 0, 1, TICK, "batchSize must be at least 1: 0");
    rejects("w", TICK, 1, -4, TICK, "-4");
    rejects("w", TICK, 1, 1, Duration.ofMillis(-9), "retryDelay must be 1 ms to 1 day: PT-0.009S");
  }

  private static void rejects(
      String name, Duration tick, int batchSize, int capacity, Duration retry, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new TimersConfig(name, tick, batchSize, capacity, retry, retry, 1))
        .withMessageContaining(message);
  }
}
