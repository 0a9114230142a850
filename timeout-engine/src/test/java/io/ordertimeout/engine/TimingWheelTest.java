package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class TimingWheelTest {

  private static final long NOW = 1_700_000_000_000L;
  private static final int ALL = Integer.MAX_VALUE;

  private final TimingWheel wheel = new TimingWheel(1, NOW);
  private final List<Long> due = new ArrayList<>();

  private boolean take(long id, long deadlineMillis) {
    return due.add(id);
  }

  @Test
  void expiresAtItsDeadlineAndNeverEarly() {
    wheel.schedule(1, NOW + 900_000);

    assertThat(wheel.advance(NOW + 899_999, this::take, ALL)).isZero();
    assertThat(wheel.advance(NOW + 900_000, this::take, ALL)).isOne();
    assertThat(due).containsExactly(1L);
    assertThat(wheel.size()).isZero();
  }

  @Test
  void expiresAtTheFirstTickAtOrAfterItsDeadline() {
    TimingWheel coarse = new TimingWheel(100, 0);
    coarse.schedule(1, 101);
    coarse.schedule(2, 200);
    coarse.schedule(3, -101);

    assertThat(coarse.advance(-1, this::take, ALL)).isOne();
    assertThat(coarse.advance(199, this::take, ALL)).isZero();
    assertThat(coarse.advance(200, this::take, ALL)).isEqualTo(2);
    assertThat(due).startsWith(3L).containsExactlyInAnyOrder(1L, 2L, 3L);
  }

  @Test
  void expiresInDeadlineOrder() {
    long[] offsets = {5, 4096, 63, 64, 1, 262_145, 65, 4095, 900_000, 2};
    for (long offset : offsets) {
      wheel.schedule(offset, NOW + offset);
    }

    wheel.advance(NOW + 1_000_000, this::take, ALL);

    assertThat(due).containsExactly(1L, 2L, 5L, 63L, 64L, 65L, 4095L, 4096L, 262_145L, 900_000L);
  }

  @Test
  void reschedulesAnArmedTimer() {
    assertThat(wheel.schedule(1, NOW + 10)).isTrue();
    assertThat(wheel.schedule(1, NOW + 20)).isFalse();

    assertThat(wheel.size()).isOne();
    assertThat(wheel.advance(NOW + 19, this::take, ALL)).isZero();
    assertThat(wheel.advance(NOW + 20, this::take, ALL)).isOne();
  }

  @Test
  void cancelsAnArmedTimer() {
    wheel.schedule(1, NOW + 10);

    assertThat(wheel.cancel(1)).isTrue();
    assertThat(wheel.cancel(1)).isFalse();
    assertThat(wheel.contains(1)).isFalse();
    assertThat(wheel.nextDeadlineMillis()).isEqualTo(Long.MAX_VALUE);
    assertThat(wheel.advance(NOW + 10, this::take, ALL)).isZero();
  }

  @Test
  void limitAlsoBoundsCascadedTimers() {
    for (int id = 0; id < 1000; id++) {
      wheel.schedule(id, NOW + 5_000_000);
    }

    int calls = 0;
    while (wheel.size() > 0 && wheel.nextDeadlineMillis() <= NOW + 5_000_000) {
      wheel.advance(NOW + 5_000_000, this::take, 100);
      WheelInvariants.check(wheel);
      calls++;
    }

    assertThat(due).hasSize(1000);
    assertThat(calls).as("10 calls to expire the timers, more to cascade them").isBetween(20, 110);
  }

  @Test
  void timerArmedDuringACascadeExpiresInOrder() {
    for (int id = 0; id < 10; id++) {
      wheel.schedule(id, NOW + 900_000);
    }
    assertThat(wheel.advance(NOW + 900_000, this::take, 3)).isZero();
    wheel.schedule(99, NOW + 900_001);

    while (wheel.size() > 0) {
      wheel.advance(NOW + 900_001, this::take, 3);
    }

    assertThat(due).hasSize(11).endsWith(99L);
  }

  @Test
  void throwingHandlerLeavesThisAndLaterTimersArmed() {
    for (int id = 0; id < 5; id++) {
      wheel.schedule(id, NOW + id);
    }

    assertThatThrownBy(
            () ->
                wheel.advance(
                    NOW + 9,
                    (id, deadlineMillis) -> {
                      if (id == 2) {
                        throw new UnsupportedOperationException();
                      }
                      return true;
                    },
                    ALL))
        .isInstanceOf(UnsupportedOperationException.class);

    WheelInvariants.check(wheel);
    assertThat(wheel.nextDeadlineMillis()).isEqualTo(NOW + 2);
    assertThat(wheel.advance(NOW + 9, this::take, ALL)).isEqualTo(3);
    assertThat(due).containsExactly(2L, 3L, 4L);
  }

  @Test
  void rejectedTimerStaysArmed() {
    wheel.schedule(1, NOW);
    wheel.schedule(2, NOW + 1);

    assertThat(wheel.advance(NOW + 9, (id, deadlineMillis) -> false, ALL)).isZero();
    assertThat(wheel.advance(NOW + 9, (id, deadlineMillis) -> id == 1, ALL)).isOne();
    assertThat(wheel.contains(2)).isTrue();
    assertThat(wheel.size()).isOne();
  }

  @Test
  void handlerMayRescheduleItsTimer() {
    wheel.schedule(1, NOW);

    int deliveredCount =
        wheel.advance(NOW, (id, deadlineMillis) -> !wheel.schedule(id, NOW + 50), ALL);

    assertThat(deliveredCount).isOne();
    assertThat(wheel.contains(1)).isTrue();
    assertThat(wheel.nextDeadlineMillis()).isEqualTo(NOW + 50);
  }

  @Test
  void handlerMayCancelItsTimerAndThenThrow() {
    wheel.schedule(1, NOW);

    assertThatThrownBy(
            () ->
                wheel.advance(
                    NOW,
                    (id, deadlineMillis) -> {
                      assertThat(wheel.cancel(id)).isTrue();
                      throw new UnsupportedOperationException();
                    },
                    ALL))
        .isInstanceOf(UnsupportedOperationException.class);

    assertThat(wheel.size()).isZero();
  }

  @Test
  void dueTimerArmedByTheHandlerExpiresInTheSameCallWithinTheLimit() {
    wheel.schedule(0, NOW);

    int deliveredCount =
        wheel.advance(
            NOW,
            (id, deadlineMillis) -> {
              due.add(id);
              return wheel.schedule(id + 1, NOW - 5);
            },
            12);

    assertThat(deliveredCount).as("the first timer cascades through two levels").isEqualTo(10);
    assertThat(due).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
    assertThat(wheel.size()).isOne();
  }

  @Test
  void handlerMayMakeTheWheelGrowAndShrink() {
    for (int id = 0; id < 2000; id++) {
      wheel.schedule(id, NOW + id);
    }

    wheel.advance(
        NOW + 10,
        (id, deadlineMillis) -> {
          for (int other = 100; other < 2000; other++) {
            if (id % 2 == 0) {
              wheel.cancel(other);
            } else {
              wheel.schedule(other, NOW + other);
            }
          }
          return true;
        },
        ALL);

    WheelInvariants.check(wheel);
    assertThat(wheel.size()).isEqualTo(100 - 11);
  }

  @Test
  void handlerMustNotAdvance() {
    wheel.schedule(1, NOW);

    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                wheel.advance(
                    NOW, (id, deadlineMillis) -> wheel.advance(NOW, this::take, 1) > 0, 1));
    assertThat(wheel.advance(NOW, this::take, 1)).isOne();
  }

  @Test
  void timeGoingBackExpiresNothing() {
    wheel.schedule(1, NOW + 100);
    wheel.advance(NOW + 50, this::take, ALL);

    assertThat(wheel.advance(NOW - 1_000_000, this::take, ALL)).isZero();
    assertThat(wheel.nextDeadlineMillis()).isBetween(NOW + 51, NOW + 100);
    assertThat(wheel.advance(NOW + 100, this::take, ALL)).isOne();
  }

  @Test
  void timeThatWasAheadDoesNotDelayLaterTimers() {
    long day = 86_400_000;
    for (int id = 10; id < 500; id++) {
      wheel.schedule(id, NOW + day + id);
    }
    wheel.advance(NOW + day, this::take, ALL);
    wheel.schedule(1, NOW + 900_000);
    wheel.schedule(2, NOW + 800_000);

    assertThat(wheel.nextDeadlineMillis()).isLessThanOrEqualTo(NOW + 800_000);
    assertThat(wheel.advance(NOW + 799_999, this::take, ALL)).isZero();
    assertThat(wheel.advance(NOW + 800_000, this::take, ALL)).isOne();
    WheelInvariants.check(wheel);
    assertThat(wheel.advance(NOW + 900_000, this::take, ALL)).isOne();
    assertThat(due).containsExactly(2L, 1L);
    assertThat(wheel.size()).isEqualTo(490);
  }

  @Test
  void neverScansEmptySlots() {
    long year = 365L * 86_400_000;
    for (int id = 1; id <= 10; id++) {
      wheel.schedule(id, NOW + id * year);
    }

    int calls = 0;
    while (wheel.size() > 0) {
      long next = wheel.nextDeadlineMillis();
      int before = due.size();
      wheel.advance(next, this::take, ALL);
      calls++;
      for (long id : due.subList(before, due.size())) {
        assertThat(next).as("expires on its tick").isEqualTo(NOW + id * year);
      }
    }

    assertThat(due).hasSize(10).isSorted();
    assertThat(calls).isLessThanOrEqualTo(10 * WheelGeometry.LEVELS);
  }

  @Test
  void supportsTheLimitsOfTime() {
    TimingWheel coarse = new TimingWheel(1000, Long.MIN_VALUE);
    coarse.schedule(1, Long.MIN_VALUE);
    coarse.schedule(2, Long.MAX_VALUE);
    coarse.schedule(3, 0);

    assertThat(coarse.advance(0, this::take, ALL)).isEqualTo(2);
    assertThat(coarse.nextDeadlineMillis()).isPositive();
    assertThat(coarse.advance(Long.MAX_VALUE - 1, this::take, ALL)).isZero();
    assertThat(coarse.advance(Long.MAX_VALUE, this::take, ALL)).isOne();
    assertThat(due).containsExactly(1L, 3L, 2L);
  }

  @Test
  void freesAndReusesMemory() {
    long empty = wheel.bytes();
    for (int id = 0; id < 100_000; id++) {
      wheel.schedule(id, NOW + id);
    }
    long peak = wheel.bytes();
    assertThat(peak).isEqualTo(wheel.index.bytes() + wheel.timers.bytes()).isPositive();
    for (int round = 0; round < 3; round++) {
      for (int id = 0; id < 50_000; id++) {
        wheel.cancel(id);
      }
      for (int id = 0; id < 50_000; id++) {
        wheel.schedule(id, NOW + 2L * id);
      }
      assertThat(wheel.bytes()).isBetween(peak * 9 / 10, peak * 11 / 10);
    }

    wheel.advance(NOW + 1_000_000, this::take, ALL);

    assertThat(due).hasSize(100_000).doesNotHaveDuplicates();
    assertThat(wheel.bytes()).isLessThan(empty + 150_000);
  }

  @Test
  void forEachPassesEveryTimerOnce() {
    for (int id = 0; id < 200; id++) {
      wheel.schedule(id, NOW + id % 3);
    }

    List<String> seen = new ArrayList<>();
    wheel.forEach((id, deadlineMillis) -> seen.add(id + "@" + (deadlineMillis - NOW)));

    assertThat(seen).hasSize(200).doesNotHaveDuplicates().contains("0@0", "4@1", "199@1");
  }

  @Test
  void messagesContainTheOffendingValue() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new TimingWheel(0, NOW))
        .withMessageContaining("0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new TimingWheel(-7, NOW))
        .withMessageContaining("-7");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> wheel.advance(NOW, this::take, -3))
        .withMessageContaining("-3");
  }

  @Test
  void bulkCallsMatchSingleCalls() {
    long[] ids = new long[40_000];
    long[] deadlines = new long[ids.length];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = i % 30_000;
      deadlines[i] = NOW + (i * 7919L) % 1_000_000;
    }

    assertThat(wheel.schedule(ids, deadlines, ids.length)).isEqualTo(30_000);
    assertThat(wheel.schedule(ids, deadlines, 10)).isZero();
    assertThat(wheel.cancel(new long[] {-1, 5, 6, 5, 40_000}, 5)).isEqualTo(2);
    assertThat(wheel.cancel(ids, 20_000)).isEqualTo(19_998);
    assertThat(wheel.cancel(new long[0], 0)).isZero();
    WheelInvariants.check(wheel);

    wheel.advance(NOW + 1_000_000, this::take, ALL);
    assertThat(due).hasSize(10_000).doesNotHaveDuplicates().allMatch(id -> id >= 20_000);
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> wheel.schedule(new long[3], new long[2], 3));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> wheel.schedule(new long[2], new long[3], 3));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> wheel.cancel(new long[2], 3));
    assertThat(wheel.size()).isZero();
  }

  @Test
  void rejectsTimersBeyondTheMaximumButReschedulesArmedOnes() {
    TimingWheel small = new TimingWheel(1, NOW, 2);
    small.schedule(1, NOW + 1);
    small.schedule(2, NOW + 2);

    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> small.schedule(3, NOW + 3))
        .withMessageContaining("holds 2 timers")
        .withMessageContaining("timer 3");
    assertThat(small.schedule(2, NOW + 9)).isFalse();
    small.cancel(1);
    assertThat(small.schedule(3, NOW + 3)).isTrue();
    assertThat(small.size()).isEqualTo(2);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new TimingWheel(1, NOW, 0))
        .withMessageContaining("0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new TimingWheel(1, NOW, TimingWheel.MAX_TIMERS + 1))
        .withMessageContaining("536870913");
  }

  @Test
  void forecastsManyTimersApproximately() {
    long minute = 60_000;
    for (int id = 0; id < 180_000; id++) {
      wheel.schedule(id, NOW + 40L * id);
    }

    long[] due =
        wheel.forecast(
            NOW - 1, NOW + minute, NOW + 5 * minute, NOW + 15 * minute, NOW + 60 * minute, 0);

    assertThat(due[0]).isZero();
    assertThat(due[1]).isBetween(1_499L, 1_503L);
    assertThat(due[2]).isBetween(7_499L, 7_503L);
    assertThat(due[3]).isBetween(22_499L, 22_503L);
    assertThat(due[4]).as("in a slot of level 2").isBetween(88_000L, 92_000L);
    assertThat(due[5]).isZero();
    assertThat(wheel.forecast(Long.MAX_VALUE)).containsExactly(180_000);
    assertThat(wheel.forecast()).isEmpty();
  }

  @Test
  void forecastsFewTimersExactlyAtAnyDistance() {
    long year = 365L * 86_400_000;
    for (int id = 1; id <= 5; id++) {
      wheel.schedule(id, NOW + id * year);
    }
    wheel.schedule(9, NOW - 1);

    assertThat(wheel.forecast(NOW, NOW + 2 * year - 1, NOW + 2 * year, NOW + 9 * year))
        .containsExactly(1, 2, 3, 6);
  }

  @Test
  void cascadeIsSpreadOverThePrecedingRevolution() {
    for (int id = 0; id < 5_000; id++) {
      wheel.schedule(id, NOW + 2_000_000 + id);
    }
    int most = 0;
    long now = NOW;
    while (wheel.size() > 0) {
      now = Math.max(now + 1, Math.min(wheel.nextDeadlineMillis(), now + 1000));
      int touched = touchedBy(now);
      most = Math.max(most, touched);
    }

    assertThat(due).hasSize(5_000).isSorted();
    assertThat(most).as("timers touched at once").isLessThan(1_000);
  }

  /** Returns how many timers are touched by the calls that complete all work due at a time. */
  private int touchedBy(long nowMillis) {
    int touched = 0;
    while (wheel.size() > 0 && wheel.nextDeadlineMillis() <= nowMillis) {
      wheel.advance(nowMillis, this::take, 1);
      touched++;
    }
    wheel.advance(nowMillis, this::take, ALL);
    return touched;
  }

  @Test
  void handlerEndsForEachByRejecting() {
    for (int id = 0; id < 10; id++) {
      wheel.schedule(id, NOW + id);
    }
    int[] seen = {0};

    wheel.forEach((id, deadlineMillis) -> ++seen[0] < 4);

    assertThat(seen[0]).isEqualTo(4);
    assertThat(wheel.size()).isEqualTo(10);
  }

  @Test
  void timersArmedOverdueExpireInDeadlineOrder() {
    wheel.schedule(5_000_000, NOW);
    for (int i = 0; i < 1_000; i++) {
      long ago = (i * 7_919L) % 1_000 * 4_321;
      wheel.schedule(-ago, NOW - ago);
    }

    while (wheel.size() > 0) {
      wheel.advance(NOW, this::take, 7);
      WheelInvariants.check(wheel);
    }

    assertThat(due).hasSize(1_001).isSorted();
  }

  @Test
  void timersArmedOverdueExpireInDeadlineOrderHoweverFarApart() {
    long[] ago = {1, 1L << 32, 1L << 50, (1L << 50) + 1, (1L << 32) + 5, 1L << 61, 7};
    for (int round = 0; round < 2; round++) {
      due.clear();
      for (long millis : ago) {
        wheel.schedule(NOW - millis, NOW - millis);
      }

      while (wheel.size() > 0) {
        wheel.advance(NOW, this::take, 1);
        WheelInvariants.check(wheel);
      }

      assertThat(due).as("round %s", round).hasSize(ago.length).isSorted();
    }
  }

  @Test
  void handlerMayArmOverdueTimersBehindACascade() {
    long start = NOW - 1_000_000;
    wheel.schedule(start + 1_000, start + 1_000);
    wheel.schedule(start + 5_000, start + 5_000);
    while (due.isEmpty()) {
      wheel.advance(NOW, this::take, 1);
    }
    while (TimingWheel.isBefore(wheel.overdue.position(), wheel.tickAtOrAfter(start + 2_000))) {
      assertThat(wheel.advance(NOW, this::take, 1)).as("only cascades").isZero();
    }
    wheel.schedule(start + 500, start + 500);

    wheel.advance(
        NOW,
        (id, deadlineMillis) -> {
          if (id == start + 500) {
            wheel.schedule(start + 2_000, start + 2_000);
            wheel.schedule(start + 1_800, start + 1_800);
          }
          return take(id, deadlineMillis);
        },
        ALL);

    assertThat(due)
        .containsExactly(start + 1_000, start + 500, start + 1_800, start + 2_000, start + 5_000);
  }

  @Test
  void forecastsAllTimersByTheEndOfTime() {
    TimingWheel coarse = new TimingWheel(10, NOW);
    for (int id = 0; id < 100; id++) {
      coarse.schedule(id, Long.MAX_VALUE);
    }

    assertThat(coarse.forecast(NOW, Long.MAX_VALUE)).containsExactly(0, 100);
  }
}
