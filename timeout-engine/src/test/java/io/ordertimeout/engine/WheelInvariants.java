package io.ordertimeout.engine;

/** Checks the invariants of a wheel between calls. */
final class WheelInvariants {

  private WheelInvariants() {}

  static void check(TimingWheel wheel) {
    int listed = 0;
    int overdue = 0;
    TimerLists timers = wheel.timers;
    for (int slot = timers.firstOccupied(0, 2 * WheelGeometry.SLOTS);
        slot >= 0;
        slot = timers.firstOccupied(slot + 1, 2 * WheelGeometry.SLOTS)) {
      int count = 0;
      for (int location = timers.last(slot);
          location != TimerLists.NONE;
          location = timers.before(location)) {
        count++;
        checkTimer(wheel, location, slot);
      }
      require(timers.count(slot) == count, "the list knows its length", slot);
      require(count > 0, "an occupied slot has timers", slot);
      listed += count;
      overdue += slot < WheelGeometry.SLOTS ? 0 : count;
    }
    require(listed == wheel.size(), "every timer is in a list", listed);
    require(overdue == wheel.overdueCount, "overdue timers are counted", overdue);
    require(
        Long.compareUnsigned(wheel.overdue.position(), wheel.upcoming.position()) <= 0,
        "the overdue position is not after the upcoming one",
        wheel.overdue.position());
  }

  private static void checkTimer(TimingWheel wheel, int location, int slot) {
    long id = wheel.timers.id(location);
    require(wheel.timers.slot(location) == slot, "the timer knows its slot", id);
    require(wheel.index.find(id, wheel.timers) == location, "the index finds the timer", id);
    WheelGeometry geometry = slot < WheelGeometry.SLOTS ? wheel.upcoming : wheel.overdue;
    long tick = wheel.tickAtOrAfter(wheel.timers.deadlineMillis(location));
    require(
        isBefore(tick, wheel.upcoming.position()) == (geometry == wheel.overdue),
        "the timer is in the right set of levels",
        id);
    if (isBefore(tick, geometry.position())) {
      require(!isBefore(tick, wheel.earliestClamped), "earliestClamped is a lower bound", id);
      tick = geometry.position();
    }
    require(!isBefore(tick, geometry.firstTick(slot)), "the slot has begun by the tick", id);
    require(!isBefore(geometry.lastTick(slot), tick), "the slot has not ended before the tick", id);
    require(
        geometry.levelOf(geometry.slotOf(tick)) <= geometry.levelOf(slot),
        "the timer's level is not too low",
        id);
  }

  private static boolean isBefore(long tick, long otherTick) {
    return Long.compareUnsigned(tick, otherTick) < 0;
  }

  private static void require(boolean holds, String invariant, long value) {
    if (!holds) {
      throw new AssertionError("invariant violated: " + invariant + ": " + value);
    }
  }
}
