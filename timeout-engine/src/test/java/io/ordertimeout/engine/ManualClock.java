package io.ordertimeout.engine;

/** A clock that stands still until a test sets it. */
final class ManualClock implements TimerClock {

  private volatile long nowMillis;
  private volatile boolean broken;

  ManualClock(long nowMillis) {
    this.nowMillis = nowMillis;
  }

  @Override
  public long nowMillis() {
    if (broken) {
      throw new UnsupportedOperationException("no clock");
    }
    return nowMillis;
  }

  void set(long millis) {
    nowMillis = millis;
  }

  void setBroken(boolean isBroken) {
    broken = isBroken;
  }
}
