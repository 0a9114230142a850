package io.ordertimeout.orders;

/**
 * The order in which the parts of an instance start, and, reversed, in which they stop: each part
 * runs for as long as a part that feeds it. Spring starts beans by ascending phase.
 */
public final class LifecyclePhases {

  /** Publishes what the expiry decides, so it starts first and stops last. */
  public static final int RELAY = 100;

  /** Decides what the watermark lets through. */
  public static final int EXPIRY = 200;

  /** Lets through what the wheels hand out. */
  public static final int WATERMARK = 300;

  /** Hands out due orders. */
  public static final int SHARDS = 400;

  /** Starts after and stops before every later step, so that events flow only while those run. */
  public static final int INTAKE = 500;

  /** Observe and maintain all of the above. */
  public static final int PERIODIC_TASKS = 600;

  private LifecyclePhases() {}
}
