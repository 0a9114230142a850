package io.ordertimeout.it.crash;

import io.ordertimeout.orders.OrderServiceApplication;
import org.springframework.boot.Banner;
import org.springframework.boot.builder.SpringApplicationBuilder;

/**
 * The service as a process that ends itself at one point, as a power cut would. The service has no
 * part in it: what it stands on, its database connections and Kafka clients, are wrapped.
 */
final class CrashingService {

  /** System property with the name of the {@link CrashPoint}. */
  static final String POINT = "crash.point";

  /** What a shell says of a process that was killed. */
  static final int EXIT_CODE = 137;

  private static int occurrences;

  private CrashingService() {}

  public static void main(String[] args) {
    new SpringApplicationBuilder(OrderServiceApplication.class, CrashInterceptors.class)
        .bannerMode(Banner.Mode.OFF)
        .run(args);
  }

  /**
   * Ends the process if it is to end here. No other thread gets past a point while it ends, since
   * this lock is never given back.
   */
  static synchronized void reached(CrashPoint point) {
    if (point.name().equals(System.getProperty(POINT)) && ++occurrences == point.occurrence()) {
      Runtime.getRuntime().halt(EXIT_CODE);
    }
  }
}
