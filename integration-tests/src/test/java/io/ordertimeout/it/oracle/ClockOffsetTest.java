package io.ordertimeout.it.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ClockOffsetTest {

  private static final Instant TIME = Instant.parse("2026-01-01T00:00:00Z");
  private static final Duration MILLI = Duration.ofMillis(1);

  @Test
  void aRoundTripBoundsTheOffset() {
    ClockOffset offset = ClockOffset.between(TIME, TIME.plusMillis(3), MILLI, TIME.plusMillis(8));
    assertThat(offset).isEqualTo(offset(-5, 4));
    assertThat(offset).hasToString("-5.000 to 4.000 ms");
  }

  @Test
  void furtherRoundTripsNarrowTheBounds() {
    assertThat(offset(-20, 4).and(offset(-5, 30))).isEqualTo(offset(-5, 4));
    assertThat(offset(-5, 30).and(offset(-20, 4))).isEqualTo(offset(-5, 4));
  }

  @Test
  void theAllowedSkewIsAllowedAndNoMore() {
    assertThat(offset(-10, 10).isAllowed()).isTrue();
    assertThat(offset(3, 3).isAllowed()).isTrue();
    assertThat(offset(-11, 0).isAllowed()).isFalse();
    assertThat(offset(0, 11).isAllowed()).isFalse();
  }

  @Test
  void aClockThatHasJumpedIsNotAllowed() {
    assertThat(offset(-2, -1).and(offset(1, 2)).isAllowed()).isFalse();
  }

  @Test
  void measuresThisClockAgainstItself() {
    AtomicInteger reads = new AtomicInteger();
    assertThat(ClockOffset.measure(() -> ahead(0, reads), Duration.ofNanos(1)).isAllowed())
        .isTrue();
    assertThat(reads).hasValueLessThan(500);
  }

  @Test
  void measuresAClockThatIsAheadAsOftenAsItMay() {
    AtomicInteger reads = new AtomicInteger();
    ClockOffset offset = ClockOffset.measure(() -> ahead(2, reads), Duration.ofNanos(1));
    assertThat(reads).hasValue(500);
    assertThat(offset.isAllowed()).isFalse();
    assertThat(offset.atLeast()).isLessThanOrEqualTo(Duration.ofSeconds(2));
    assertThat(offset.atMost()).isGreaterThanOrEqualTo(Duration.ofSeconds(2));
  }

  private static Instant ahead(long seconds, AtomicInteger reads) {
    reads.incrementAndGet();
    return Instant.now().plusSeconds(seconds);
  }

  private static ClockOffset offset(long atLeastMillis, long atMostMillis) {
    return new ClockOffset(Duration.ofMillis(atLeastMillis), Duration.ofMillis(atMostMillis));
  }
}
