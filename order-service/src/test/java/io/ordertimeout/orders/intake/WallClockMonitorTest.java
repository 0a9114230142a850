package io.ordertimeout.orders.intake;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class WallClockMonitorTest {

  private final AtomicLong wallMillis = new AtomicLong(1_800_000_000_000L);
  private final AtomicLong nanos = new AtomicLong(-5_000_000_000L);
  private final WallClockMonitor monitor = new WallClockMonitor(wallMillis::get, nanos::get);

  @Test
  void clocksThatAdvanceTogetherDoNotJump() {
    pass(Duration.ofHours(1), Duration.ofHours(1));

    assertThat(monitor.jump()).isZero();
  }

  @Test
  void aClockThatIsSetBackOrForwardJumpsOnce() {
    pass(Duration.ofSeconds(1), Duration.ofSeconds(-600));
    assertThat(monitor.jump()).isEqualTo(Duration.ofSeconds(-601));
    assertThat(monitor.jump()).isZero();

    pass(Duration.ofSeconds(1), Duration.ofSeconds(7));
    assertThat(monitor.jump()).isEqualTo(Duration.ofSeconds(6));
    assertThat(monitor.jump()).isZero();
  }

  @Test
  void clockSynchronisationIsNoJump() {
    for (int i = 0; i < 100; i++) {
      pass(Duration.ofSeconds(1), Duration.ofSeconds(-4));

      assertThat(monitor.jump()).isZero();
    }
  }

  @Test
  void aThreadThatIsSuspendedBetweenTheReadingsSeesNoJump() {
    AtomicInteger readings = new AtomicInteger();
    WallClockMonitor suspended =
        new WallClockMonitor(
            () -> {
              long read = wallMillis.get();
              if (readings.incrementAndGet() == 2) {
                pass(Duration.ofMinutes(1), Duration.ofMinutes(1));
              }
              return read;
            },
            nanos::get);

    assertThat(suspended.jump()).isZero();
    assertThat(readings).hasValue(3);
  }

  private void pass(Duration monotonic, Duration wall) {
    nanos.addAndGet(monotonic.toNanos());
    wallMillis.addAndGet(wall.toMillis());
  }
}
