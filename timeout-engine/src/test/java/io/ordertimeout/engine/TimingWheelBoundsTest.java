package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** Tests of a wheel exactly at its limits. */
class TimingWheelBoundsTest {

  private static final int ALL = Integer.MAX_VALUE;

  /** The tick of time 0. */
  private static final long ZERO = Long.MIN_VALUE;

  private final TimingWheel wheel = new TimingWheel(1, 0);
  private final List<Long> due = new ArrayList<>();

  private boolean take(long id, long deadlineMillis) {
    return due.add(id);
  }

  private void scheduleMany(int count, long deadlineMillis) {
    for (int id = 0; id < count; id++) {
      wheel.schedule(id, deadlineMillis);
    }
  }

  @Test
  void holdsASingleTimerIfThatIsItsMaximum() {
    TimingWheel single = new TimingWheel(1, 0, 1);
    single.schedule(1, 5);

    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> single.schedule(2, 5));
    assertThat(single.schedule(1, 6)).isFalse();
    assertThat(single.nextDeadlineMillis()).isEqualTo(6);
  }

  @Test
  void passesNoMoreThanTheLimit() {
    scheduleMany(10, 5);

    assertThat(wheel.advance(5, this::take, 3)).isEqualTo(3);
    assertThat(wheel.advance(5, this::take, 7)).isEqualTo(7);
    assertThat(wheel.advance(5, this::take, 1)).isZero();
  }

  @Test
  void nextDeadlineIsExactForSlotsOfUpToEightTimers() {
    scheduleMany(8, 190);
    assertThat(wheel.nextDeadlineMillis()).isEqualTo(190);
    wheel.schedule(3, 189);
    assertThat(wheel.nextDeadlineMillis()).isEqualTo(189);

    scheduleMany(9, 190);
    assertThat(wheel.nextDeadlineMillis()).as("the start of the slot").isEqualTo(128);
  }

  @Test
  void forecastIsExactForSlotsOfUpToEightTimersAndProportionalForLongerOnes() {
    scheduleMany(8, 190);
    assertThat(wheel.forecast(128, 189, 190, 191)).containsExactly(0, 0, 8, 8);

    scheduleMany(64, 190);
    assertThat(wheel.forecast(127, 128, 159, 190, 191, 192, 9_999))
        .containsExactly(0, 1, 32, 63, 64, 64, 64);
  }

  @Test
  void cascadesAProportionalShareOfTheNextRevolutionAsTimePasses() {
    int slot = wheel.upcoming.slotOf(ZERO + 191);
    scheduleMany(6_400, 191);
    assertThat(wheel.timers.count(slot)).isEqualTo(6_400);

    int[][] remainingAt = {{63, 6_400}, {64, 6_368}, {96, 3_184}, {112, 1_592}, {127, 99}};
    for (int[] step : remainingAt) {
      assertThat(wheel.advance(step[0], this::take, ALL)).isZero();
      assertThat(wheel.timers.count(slot)).as("at %s", step[0]).isEqualTo(step[1]);
    }
    WheelInvariants.check(wheel);
    assertThat(wheel.advance(191, this::take, ALL)).isEqualTo(6_400);
  }

  @Test
  void cascadesNoMoreThanTheLimit() {
    int slot = wheel.upcoming.slotOf(ZERO + 191);
    scheduleMany(6_400, 191);

    wheel.advance(96, this::take, 100);

    assertThat(wheel.timers.count(slot)).isEqualTo(6_300);
  }

  @Test
  void timeGoingFarBackExpiresOnlyTimersDueByIt() {
    long late = 1L << 33;
    wheel.advance(late, this::take, ALL);
    wheel.schedule(1, late - 10);
    wheel.schedule(2, 5);
    assertThat(wheel.nextDeadlineMillis()).isEqualTo(5);
    wheel.schedule(3, 2);
    wheel.schedule(4, 9);
    assertThat(wheel.nextDeadlineMillis()).isEqualTo(2);

    assertThat(wheel.advance(1, this::take, ALL)).isZero();
    assertThat(wheel.advance(2, this::take, ALL)).isOne();
    assertThat(wheel.nextDeadlineMillis()).isEqualTo(5);
    assertThat(wheel.advance(8, this::take, ALL)).isOne();
    WheelInvariants.check(wheel);
    assertThat(wheel.advance(late - 11, this::take, ALL)).isOne();
    assertThat(wheel.nextDeadlineMillis()).isEqualTo(late - 10);
    assertThat(wheel.advance(late - 10, this::take, ALL)).isOne();
    assertThat(due).containsExactly(3L, 2L, 4L, 1L);
    assertThat(wheel.nextDeadlineMillis()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void overdueTimersExpireInOrderAtTheBeginningOfTime() {
    long start = Long.MIN_VALUE;
    TimingWheel first = new TimingWheel(1, start + (1L << 32));
    first.schedule(5, start + 5);
    first.schedule(3, start + 3);
    first.schedule(0, start);

    assertThat(first.nextDeadlineMillis()).isEqualTo(start);
    assertThat(first.advance(start + 4, this::take, ALL)).isEqualTo(2);
    assertThat(first.advance(start + (1L << 32), this::take, ALL)).isOne();
    assertThat(due).containsExactly(0L, 3L, 5L);
  }
}
