package io.ordertimeout.it.chaos;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Half a minute of random faults, at least those that come first; the system property {@code
 * chaos.seed} varies the others. Alone, because three brokers, two servers of Postgres and several
 * instances would starve other tests, and because it judges lateness.
 */
@Tag("faults")
@Isolated
class ChaosIT {

  private static final Duration LENGTH = Duration.ofSeconds(30);
  private static final int ORDERS_PER_SECOND = 300;

  @Test
  @Timeout(value = 15, unit = TimeUnit.MINUTES)
  void everyPromiseIsKeptUnderRandomFaults() throws IOException, InterruptedException {
    List<Fault> all = List.of(Fault.values());
    new Chaos(LENGTH, all, FaultScript.FIRST, Long.getLong("chaos.seed", 6), ORDERS_PER_SECOND)
        .assertPromisesAreKept();
  }
}
