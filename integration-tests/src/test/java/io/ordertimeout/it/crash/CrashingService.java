package io.ordertimeout.it.crash;

import io.ordertimeout.orders.OrderServiceApplication;
import org.springframework.boot.Banner;
import org.springframework.boot.builder.SpringApplicationBuilder;

/**
 * Main class of a service that halts itself at one {@link CrashPoint}, as a power cut would. Its
 * code is unchanged: only its database connections and Kafka clients are wrapped.
 */
final class CrashingService {

  /** System property that names the {@link CrashPoint}. */
  static final String POINT = "crash.point";

  /** The exit code that a shell reports for a killed process. */
  static final int EXIT_CODE = 137;

  private static int occurrences;

  private CrashingService() {}

  public static void main(String[] args) {
    new SpringApplicationBuilder(OrderServiceApplication.class, CrashInterceptors.class)
        .bannerMode(Banner.Mode.OFF)
        .run(args);
  }

  /**
   * Halts the process if this is its crash point. No other thread passes any point meanwhile, since
   * the lock is never released.
   */
  static synchronized void reached(CrashPoint point) {
    if (point.name().equals(System.getProperty(POINT)) && ++occurrences == point.occurrence()) {
      Runtime.getRuntime().halt(EXIT_CODE);
    }
  }
}
