package io.ordertimeout.local;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * Arrival times of orders: a Poisson process whose rate follows a sine with a period of 40 s and
 * peaks for 3 s in every 30 s. Its long-run mean is the configured rate.
 */
final class ArrivalProcess {
  private static final double PERIOD_SECONDS = 40;
  private static final double SWELL = 0.25;
  private static final double PEAK_EVERY_SECONDS = 30;
  private static final double PEAK_SECONDS = 3;
  private static final double PEAK_FACTOR = 3.5;

  /** Base rate that makes the mean 1, given that peaks take a tenth of the time. */
  private static final double BASE = 0.8;

  private static final double MAX = (BASE + SWELL) * PEAK_FACTOR;

  private final RandomGenerator random;
  private final double perSecond;
  private double seconds;

  ArrivalProcess(RandomGenerator random, double perSecond) {
    this.random = random;
    this.perSecond = perSecond;
  }

  /** Returns the next arrival, measured from the start: drawn at the maximum rate, then thinned. */
  Duration next() {
    do {
      seconds -= Math.log(1 - random.nextDouble()) / (perSecond * MAX);
    } while (random.nextDouble() * MAX >= intensity(seconds));
    return Duration.ofNanos((long) (seconds * 1e9));
  }

  private static double intensity(double seconds) {
    double swell = BASE + SWELL * Math.sin(2 * Math.PI * seconds / PERIOD_SECONDS);
    boolean peak = seconds % PEAK_EVERY_SECONDS >= PEAK_EVERY_SECONDS - PEAK_SECONDS;
    return peak ? swell * PEAK_FACTOR : swell;
  }
}
