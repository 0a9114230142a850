package io.ordertimeout.engine;

import java.util.function.LongUnaryOperator;

/**
 * An estimate of how many timers are due by each of several ticks, added up slot by slot. It reads
 * the deadlines of the timers in a short list. The timers in a longer one count as if they were
 * spread evenly over the ticks of their slot.
 *
 * <p>Confined to one thread. It changes no timer.
 */
final class DueEstimate {

  private final TimerLists timers;
  private final LongUnaryOperator tickOfDeadline;
  private final long lastTick;
  private final long[] ticks;
  private final double[] due;

  /**
   * Creates an estimate that counts no timer yet.
   *
   * @param tickOfDeadline returns the tick at which a timer with that deadline is due
   * @param lastTick the tick of the latest possible deadline, which may end a slot early
   * @param ticks the ticks
   */
  DueEstimate(TimerLists timers, LongUnaryOperator tickOfDeadline, long lastTick, long[] ticks) {
    this.timers = timers;
    this.tickOfDeadline = tickOfDeadline;
    this.lastTick = lastTick;
    this.ticks = ticks;
    this.due = new double[ticks.length];
  }

  /** Adds the timers of a slot. */
  void add(WheelGeometry geometry, int slot) {
    if (timers.isShort(slot)) {
      addExactly(slot);
    } else {
      addEvenlySpread(geometry, slot);
    }
  }

  private void addExactly(int slot) {
    for (int location = timers.last(slot);
        location != TimerLists.NONE;
        location = timers.before(location)) {
      long tick = tickOfDeadline.applyAsLong(timers.deadlineMillis(location));
      for (int i = 0; i < ticks.length; i++) {
        due[i] += TimingWheel.isBefore(ticks[i], tick) ? 0 : 1;
      }
    }
  }

  private void addEvenlySpread(WheelGeometry geometry, int slot) {
    long start = geometry.firstTick(slot);
    long last = TimingWheel.earlier(geometry.lastTick(slot), lastTick);
    double length = (double) (last - start) + 1;
    for (int i = 0; i < ticks.length; i++) {
      if (!TimingWheel.isBefore(ticks[i], start)) {
        double passed = (double) (TimingWheel.earlier(ticks[i], last) - start) + 1;
        due[i] += timers.count(slot) * (passed / length);
      }
    }
  }

  /** Returns the number of timers due by each tick, rounded. */
  long[] counts() {
    long[] rounded = new long[due.length];
    for (int i = 0; i < due.length; i++) {
      rounded[i] = Math.round(due[i]);
    }
    return rounded;
  }
}
