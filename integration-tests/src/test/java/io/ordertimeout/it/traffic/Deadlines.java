package io.ordertimeout.it.traffic;

import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Scenario;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.UUID;

/** Deadlines that suit the speed of the machine, so that tests neither race with them nor wait. */
public final class Deadlines {

  private static final Duration SHORTEST = Duration.ofSeconds(2);
  private static final int FACTOR = 4;

  private Deadlines() {}

  /**
   * Returns a deadline that leaves enough time to create a few orders in a running service. It
   * measures how long a probe order takes from its creation until it is stored.
   */
  public static Instant afterCreation(Scenario scenario) {
    String probe = "probe-" + UUID.randomUUID();
    long start = System.nanoTime();
    scenario.create(probe, 0, Scenario.in(Duration.ofHours(1)));
    await("the probe order")
        .pollInterval(Duration.ofMillis(20))
        .until(() -> "PENDING".equals(scenario.database().state(probe)));
    Duration way = Duration.ofNanos(System.nanoTime() - start);
    // The probe must not disturb tests that count pending orders.
    scenario.closeOrder(probe, 0);
    return Scenario.in(SHORTEST.plus(way.multipliedBy(FACTOR)));
  }

  /**
   * Moves the deadlines of pending orders to now, as an operator's command to cancel them does. A
   * running service notices that within a second.
   */
  public static void passNow(Database database, String... orderIds) {
    Arrays.stream(orderIds)
        .forEach(
            orderId ->
                database.execute(
                    """
                    with moved as (
                      update order_deadline set deadline = clock_timestamp()
                      where order_id = ? and state = 'PENDING'
                      returning order_id
                    )
                    insert into operator_action (actor, action, subject, reason)
                    select 'test', 'CANCEL_ORDER', order_id, 'the deadline passes now' from moved
                    """,
                    orderId));
  }
}
