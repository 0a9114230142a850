package io.ordertimeout.engine;

/** What must hold inside a wheel between any two calls. */
final class WheelInvariants {

  private WheelInvariants() {}

  static void check(TimingWheel wheel) {
    TimerNodes nodes = wheel.nodes;
    int hanging = 0;
    for (int level = 0; level < TimerNodes.LEVELS; level++) {
      for (int digit = 0; digit < TimerNodes.SLOTS_PER_LEVEL; digit++) {
        int slot = level * TimerNodes.SLOTS_PER_LEVEL + digit;
        boolean occupied = ((nodes.occupied(level) >>> digit) & 1) == 1;
        require(occupied != nodes.isEmpty(slot), "the bit tells whether there are timers", slot);
        for (int node = nodes.first(slot); node >= 0; node = nodes.next(node)) {
          hanging++;
          checkNode(wheel, node, slot, level, digit);
        }
      }
    }
    require(hanging == wheel.size(), "every timer hangs in a slot", hanging);
    require(
        nodes.capacity() == TimingWheel.MIN_CAPACITY || nodes.size() >= nodes.capacity() / 4,
        "a quarter of the memory is used",
        nodes.capacity());
  }

  private static void checkNode(TimingWheel wheel, int node, int slot, int level, int digit) {
    long tick = tick(wheel, wheel.nodes.deadlineMillis(node));
    if (tick < wheel.position) {
      require(wheel.earliestBehind <= tick, "earliestBehind is a lower bound", tick);
      tick = wheel.position;
    }
    require(digit == digit(tick, level), "the slot is the tick's digit", tick);
    require(
        slot == wheel.cascading || level == level(tick, wheel.position),
        "the level is that of the highest digit that differs",
        tick);
    require(
        wheel.index.find(wheel.nodes.id(node), wheel.nodes) == node,
        "the index finds the timer",
        wheel.nodes.id(node));
  }

  private static void require(boolean holds, String invariant, long value) {
    if (!holds) {
      throw new AssertionError("does not hold: " + invariant + ": " + value);
    }
  }

  private static long tick(TimingWheel wheel, long millis) {
    return Math.floorDiv(millis, wheel.tickMillis)
        + (Math.floorMod(millis, wheel.tickMillis) == 0 ? 0 : 1);
  }

  private static int digit(long tick, int level) {
    return (int) ((tick + Long.MIN_VALUE) >>> (6 * level)) & 63;
  }

  private static int level(long tick, long position) {
    for (int level = TimerNodes.LEVELS - 1; level > 0; level--) {
      if (digit(tick, level) != digit(position, level)) {
        return level;
      }
    }
    return 0;
  }
}
