package io.ordertimeout.it.chaos;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Half an hour of faults from a random seed, every fault at least once. The system properties
 * {@code chaos.minutes}, {@code chaos.seed} and {@code chaos.rate} change the duration, the seed
 * and the orders per second; {@code chaos.faults} names the only faults that are injected.
 */
@Tag("endurance")
class ChaosEnduranceIT {

  @Test
  @Timeout(value = 6, unit = TimeUnit.HOURS)
  void everyPromiseIsKeptUnderRandomFaults() throws IOException, InterruptedException {
    Duration length = Duration.ofMinutes(Long.getLong("chaos.minutes", 30));
    long seed = Long.getLong("chaos.seed", ThreadLocalRandom.current().nextLong(1_000_000));
    int rate = Integer.getInteger("chaos.rate", 500);
    new Chaos(length, faults(), faults(), seed, rate).assertPromisesAreKept();
  }

  private static List<Fault> faults() {
    String names = System.getProperty("chaos.faults");
    return names == null
        ? List.of(Fault.values())
        : Arrays.stream(names.split(",", -1)).map(Fault::valueOf).toList();
  }
}
