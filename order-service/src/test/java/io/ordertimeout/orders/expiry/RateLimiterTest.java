package io.ordertimeout.orders.expiry;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RateLimiterTest {

  private long nanos = 42;

  @Test
  void withoutALimitNoBatchWaits() {
    RateLimiter limiter = new RateLimiter(0, () -> nanos);

    for (int i = 0; i < 1_000; i++) {
      assertThat(limiter.nanosUntilNext(1_000_000)).isZero();
    }
  }

  @Test
  void batchWaitsUntilTheTimeOfEarlierBatchesIsOver() {
    RateLimiter limiter = new RateLimiter(100, () -> nanos);

    assertThat(limiter.nanosUntilNext(50)).isZero();
    assertThat(limiter.nanosUntilNext(100)).isEqualTo(millis(500));
    assertThat(limiter.nanosUntilNext(1)).isEqualTo(millis(1_500));
    nanos += millis(1_400);
    assertThat(limiter.nanosUntilNext(1)).isEqualTo(millis(110));
  }

  @Test
  void idleTimeIsNotAccumulated() {
    RateLimiter limiter = new RateLimiter(100, () -> nanos);
    nanos += millis(3_600_000);

    assertThat(limiter.nanosUntilNext(50)).isZero();
    assertThat(limiter.nanosUntilNext(50)).isEqualTo(millis(500));
  }

  @Test
  void wrapAroundOfTheClockHasNoEffect() {
    nanos = Long.MAX_VALUE - 10;
    RateLimiter limiter = new RateLimiter(100, () -> nanos);

    assertThat(limiter.nanosUntilNext(100)).isZero();
    nanos += millis(999);
    assertThat(limiter.nanosUntilNext(1)).isEqualTo(millis(1));
  }

  private static long millis(long millis) {
    return Duration.ofMillis(millis).toNanos();
  }
}
