package io.ordertimeout.it.race;

import io.ordertimeout.it.oracle.Acknowledgements;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.traffic.Traffic;
import io.ordertimeout.it.traffic.TrafficProfile;
import java.time.Duration;

/** Payments at the instant of their deadlines, for hundreds of orders at once. */
public final class Race {

  static final TrafficProfile PROFILE = TrafficProfile.race();

  private static final long SEED = 4_711;
  private static final int ORDERS_PER_SECOND = 500;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private Race() {}

  /** Creates that many orders and pays them close to their deadlines. */
  public static void run(Scenario scenario, Acknowledgements acknowledgements, int orders) {
    try (Traffic traffic =
        Traffic.start(scenario, acknowledgements, PROFILE, SEED, ORDERS_PER_SECOND, orders)) {
      traffic.awaitLimit(PATIENCE);
      traffic.finish();
    }
  }
}
