package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WheelGeometryTest {

  /** The tick of time 0. */
  private static final long ZERO = Long.MIN_VALUE;

  @Test
  void slotsCoverTheRangeOfTheirLevel() {
    long[] lengths = {1, 1L << 6, 1L << 20, 1L << 31, 1L << 42, 1L << 53};
    int firstSlot = 1_000;
    for (long position : new long[] {ZERO, ZERO + 64 * 7 + 5, 77, ZERO - 12_345_678_901L}) {
      WheelGeometry geometry = new WheelGeometry(firstSlot, position);
      for (int level = 0; level < WheelGeometry.LEVELS; level++) {
        // The first tick that the level below does not cover.
        long length = lengths[level];
        long tick = level == 0 ? position : (Long.divideUnsigned(position, length) + 2) * length;
        int slot = geometry.slotOf(tick);
        assertThat(geometry.levelOf(slot)).isEqualTo(level);
        assertThat(geometry.firstTick(slot)).isEqualTo(tick);
        assertThat(geometry.lastTick(slot)).isEqualTo(tick + length - 1);
        assertThat(geometry.slotOf(tick + length - 1)).isEqualTo(slot);
        if (level > 0) {
          assertThat(geometry.levelOf(geometry.slotOf(tick - 1))).isEqualTo(level - 1);
        }
        assertThat(slot).isBetween(firstSlot, firstSlot + WheelGeometry.SLOTS - 1);
      }
    }
  }

  @Test
  void reportsElapsedFractionsAndRevolutions() {
    WheelGeometry geometry = new WheelGeometry(0, ZERO + 64);

    assertThat(geometry.elapsed(0, ZERO + 64)).isZero();
    assertThat(geometry.elapsed(0, ZERO + 80)).isEqualTo(0.25);
    assertThat(geometry.elapsed(0, ZERO + 127)).isEqualTo(63 / 64.0);
    assertThat(geometry.elapsed(1, ZERO + (1 << 19))).isEqualTo(0.5);
    assertThat(WheelGeometry.sameRevolution(0, ZERO + 64, ZERO + 127)).isTrue();
    assertThat(WheelGeometry.sameRevolution(0, ZERO + 63, ZERO + 64)).isFalse();
    assertThat(geometry.firstTick(geometry.nextRevolutionSlot(0))).isEqualTo(ZERO + 128);
    assertThat(geometry.firstTick(geometry.nextRevolutionSlot(1))).isEqualTo(ZERO + (1 << 20));
    assertThat(geometry.position()).isEqualTo(ZERO + 64);
  }
}
