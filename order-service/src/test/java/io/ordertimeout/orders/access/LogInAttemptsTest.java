package io.ordertimeout.orders.access;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LogInAttemptsTest {

  private final AtomicLong nanos = new AtomicLong();
  private final LogInAttempts attempts = new LogInAttempts(3, Duration.ofMinutes(5), nanos::get);

  @Test
  void failuresOfOneUserAndAddressLeaveOthersTheirs() {
    for (int i = 0; i < 3; i++) {
      assertThat(attempts.take("operator", "a")).isTrue();
    }
    assertThat(attempts.areUsedUp("operator", "a")).isTrue();
    assertThat(attempts.take("operator", "a")).isFalse();
    assertThat(attempts.take("viewer", "a")).isTrue();
    assertThat(attempts.take("operator", "b")).isTrue();
  }

  @Test
  void attemptsAreRegainedOneAfterTheOther() {
    for (int i = 0; i < 3; i++) {
      attempts.take("operator", "a");
    }
    assertThat(attempts.regain()).isEqualTo(Duration.ofSeconds(100));
    nanos.addAndGet(Duration.ofSeconds(99).toNanos());
    assertThat(attempts.take("operator", "a")).isFalse();
    nanos.addAndGet(Duration.ofSeconds(1).toNanos());
    assertThat(attempts.take("operator", "a")).isTrue();
    assertThat(attempts.take("operator", "a")).isFalse();
  }

  @Test
  void aSuccessUsesNothingUp() {
    for (int i = 0; i < 100; i++) {
      assertThat(attempts.take("operator", "a")).isTrue();
      attempts.giveBack("operator", "a");
    }
    nanos.addAndGet(Duration.ofDays(1).toNanos());
    for (int i = 0; i < 3; i++) {
      assertThat(attempts.take("operator", "a")).isTrue();
    }
    assertThat(attempts.take("operator", "a")).isFalse();
  }
}
