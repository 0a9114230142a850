package io.ordertimeout.it.traffic;

import io.ordertimeout.it.oracle.ShareBounds;
import java.time.Duration;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * The composition of generated traffic: the weight of each fate, timeouts and error rates.
 *
 * @param weights relative frequency of each fate
 * @param shortest shortest timeout of an order
 * @param longest longest timeout of an order
 * @param spread maximum distance between the deadline and an event that is aimed at it
 * @param grid deadlines are whole multiples of this, so that many orders are due at once; zero for
 *     no grid
 * @param repeated share of the events that are sent twice
 * @param garbage unusable records per order
 * @param bounds what a run of this traffic has to contain
 */
public record TrafficProfile(
    Map<OrderFate, Integer> weights,
    Duration shortest,
    Duration longest,
    Duration spread,
    Duration grid,
    double repeated,
    double garbage,
    ShareBounds bounds) {

  public TrafficProfile {
    weights = Map.copyOf(weights);
  }

  /** Some of everything that a shop may do whose service has the default settings. */
  public static TrafficProfile everything() {
    Map<OrderFate, Integer> weights = new EnumMap<>(OrderFate.class);
    weights.put(OrderFate.PAID, 30);
    weights.put(OrderFate.PAID_AT_DEADLINE, 16);
    weights.put(OrderFate.PAID_LATE, 6);
    weights.put(OrderFate.NEVER_PAID, 20);
    weights.put(OrderFate.CLOSED, 5);
    weights.put(OrderFate.CLOSED_AT_DEADLINE, 4);
    weights.put(OrderFate.PAID_TWICE, 4);
    weights.put(OrderFate.PAID_AND_CLOSED, 4);
    weights.put(OrderFate.PAID_BEFORE_CREATED, 3);
    weights.put(OrderFate.PAID_ONLY, 1);
    weights.put(OrderFate.PAID_IN_TRANSACTION, 4);
    weights.put(OrderFate.PAYMENT_ABORTED, 2);
    weights.put(OrderFate.FAR_DEADLINE, 1);
    return of(weights);
  }

  /** The same, and payments that are under way and changes: for services that read all topics. */
  public static TrafficProfile withAllTopics() {
    Map<OrderFate, Integer> weights = new EnumMap<>(everything().weights);
    weights.put(OrderFate.PAID_SLOWLY, 8);
    weights.put(OrderFate.PAYMENT_FAILED, 6);
    weights.put(OrderFate.PAYMENT_ABANDONED, 5);
    weights.put(OrderFate.PAYMENTS_OVERLAP, 4);
    weights.put(OrderFate.ATTEMPTED_BEFORE_CREATED, 2);
    weights.put(OrderFate.POSTPONED, 6);
    weights.put(OrderFate.POSTPONED_AT_DEADLINE, 5);
    weights.put(OrderFate.BROUGHT_FORWARD, 4);
    weights.put(OrderFate.CHANGED_BEFORE_CREATED, 3);
    return of(weights);
  }

  private static TrafficProfile of(Map<OrderFate, Integer> weights) {
    return new TrafficProfile(
        weights,
        Duration.ofSeconds(2),
        Duration.ofSeconds(8),
        Duration.ofMillis(50),
        Duration.ZERO,
        0.04,
        0.01,
        new ShareBounds(0.1, 0.04, 0.2, 0.001));
  }

  /** Every payment close to its deadline, and many orders with the same deadline. */
  public static TrafficProfile race() {
    return new TrafficProfile(
        Map.of(OrderFate.PAID_AT_DEADLINE, 100),
        Duration.ofSeconds(2),
        Duration.ofSeconds(4),
        Duration.ofMillis(40),
        Duration.ofSeconds(1),
        0,
        0,
        // A busy machine pays late; a few hundred of each are a race, too.
        new ShareBounds(0.02, 0.02, 0.6, 0));
  }

  OrderFate draw(RandomGenerator random) {
    int left = random.nextInt(weights.values().stream().mapToInt(Integer::intValue).sum());
    // In a fixed order, so that the same seed draws the same fates.
    for (Map.Entry<OrderFate, Integer> fate :
        weights.entrySet().stream()
            .sorted(Map.Entry.comparingByKey(Comparator.naturalOrder()))
            .toList()) {
      left -= fate.getValue();
      if (left < 0) {
        return fate.getKey();
      }
    }
    throw new IllegalStateException("the weights do not add up: " + weights);
  }
}
