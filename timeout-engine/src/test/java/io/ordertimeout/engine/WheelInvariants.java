package io.ordertimeout.engine;

/** What must hold inside a wheel between any two calls. */
final class WheelInvariants {

  private WheelInvariants() {}

  static void check(TimingWheel wheel) {
    int hanging = 0;
    int behind = 0;
    TimerLists timers = wheel.timers;
    for (int slot = timers.firstOccupied(0, 2 * Levels.SLOTS);
        slot >= 0;
        slot = timers.firstOccupied(slot + 1, 2 * Levels.SLOTS)) {
      int count = 0;
      for (int location = timers.last(slot);
          location != TimerLists.NONE;
          location = timers.before(location)) {
        count++;
        checkTimer(wheel, location, slot);
      }
      require(timers.count(slot) == count, "the list knows its length", slot);
      require(count > 0, "an occupied slot has timers", slot);
      hanging += count;
      behind += slot < Levels.SLOTS ? 0 : count;
    }
    require(hanging == wheel.size(), "every timer hangs in a slot", hanging);
    require(behind == wheel.behindCount, "those behind are counted", behind);
    require(
        Long.compareUnsigned(wheel.behind.position(), wheel.ahead.position()) <= 0,
        "what is behind does not stand ahead",
        wheel.behind.position());
  }

  private static void checkTimer(TimingWheel wheel, int location, int slot) {
    long id = wheel.timers.id(location);
    require(wheel.timers.slot(location) == slot, "the timer knows its slot", id);
    require(wheel.index.find(id, wheel.timers) == location, "the index finds the timer", id);
    Levels levels = slot < Levels.SLOTS ? wheel.ahead : wheel.behind;
    long tick = wheel.tickAtOrAfter(wheel.timers.deadlineMillis(location));
    require(
        isBefore(tick, wheel.ahead.position()) == (levels == wheel.behind),
        "the timer is on its side of the position",
        id);
    if (isBefore(tick, levels.position())) {
      require(!isBefore(tick, wheel.earliestMissed), "earliestMissed is a lower bound", id);
      tick = levels.position();
    }
    require(!isBefore(tick, levels.startOf(slot)), "the slot has begun by the tick", id);
    require(!isBefore(levels.endOf(slot), tick), "the slot has not ended before the tick", id);
    require(
        levels.levelOf(levels.slotOf(tick)) <= levels.levelOf(slot),
        "the timer does not hang too low",
        id);
  }

  private static boolean isBefore(long tick, long otherTick) {
    return Long.compareUnsigned(tick, otherTick) < 0;
  }

  private static void require(boolean holds, String invariant, long value) {
    if (!holds) {
      throw new AssertionError("does not hold: " + invariant + ": " + value);
    }
  }
}
