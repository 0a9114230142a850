package io.ordertimeout.it.traffic;

import java.time.Duration;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * How many orders of 100 meet which fate, and the numbers around them.
 *
 * @param shortest timeout of an order
 * @param longest timeout of an order
 * @param aim how far from the deadline events aimed at it are, at most
 * @param grid deadlines are whole multiples of it, so that many orders are due at once; zero for
 *     none
 * @param repeated share of the events that are sent twice
 * @param garbage unusable records for every order
 */
public record Mix(
    Map<Fate, Integer> fates,
    Duration shortest,
    Duration longest,
    Duration aim,
    Duration grid,
    double repeated,
    double garbage) {

  public Mix {
    fates = Map.copyOf(fates);
  }

  /** A bit of everything that a shop may do. */
  public static Mix everything() {
    Map<Fate, Integer> fates = new EnumMap<>(Fate.class);
    fates.put(Fate.PAID, 30);
    fates.put(Fate.PAID_AT_DEADLINE, 16);
    fates.put(Fate.PAID_LATE, 6);
    fates.put(Fate.NEVER_PAID, 20);
    fates.put(Fate.CLOSED, 5);
    fates.put(Fate.CLOSED_AT_DEADLINE, 4);
    fates.put(Fate.PAID_TWICE, 4);
    fates.put(Fate.PAID_AND_CLOSED, 4);
    fates.put(Fate.PAID_BEFORE_CREATED, 3);
    fates.put(Fate.PAID_ONLY, 1);
    fates.put(Fate.PAID_IN_TRANSACTION, 4);
    fates.put(Fate.PAYMENT_ABORTED, 2);
    fates.put(Fate.FAR, 1);
    return new Mix(
        fates,
        Duration.ofSeconds(2),
        Duration.ofSeconds(8),
        Duration.ofMillis(50),
        Duration.ZERO,
        0.04,
        0.003);
  }

  /** Every payment aimed at its deadline, and every deadline the instant of many. */
  public static Mix race() {
    return new Mix(
        Map.of(Fate.PAID_AT_DEADLINE, 100),
        Duration.ofSeconds(2),
        Duration.ofSeconds(4),
        Duration.ofMillis(40),
        Duration.ofSeconds(1),
        0,
        0);
  }

  Fate draw(RandomGenerator random) {
    int left = random.nextInt(fates.values().stream().mapToInt(Integer::intValue).sum());
    // In a fixed order, so that the same seed draws the same.
    for (Map.Entry<Fate, Integer> fate :
        fates.entrySet().stream()
            .sorted(Map.Entry.comparingByKey(Comparator.naturalOrder()))
            .toList()) {
      left -= fate.getValue();
      if (left < 0) {
        return fate.getKey();
      }
    }
    throw new IllegalStateException("fates do not add up: " + fates);
  }
}
