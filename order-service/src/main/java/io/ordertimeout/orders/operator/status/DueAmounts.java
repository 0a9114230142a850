package io.ordertimeout.orders.operator.status;

import io.ordertimeout.orders.LifecyclePhases;
import io.ordertimeout.orders.deadline.PendingOrderStatistics;
import io.ordertimeout.orders.deadline.PendingOrderStatistics.DueAmount;
import io.ordertimeout.orders.platform.monitoring.BackgroundLoop;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.shard.Shards;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * The amounts of the orders of the owned shards that come due within the next hour. The wheels know
 * no amounts, so Postgres sums them up, shard by shard: every ten seconds, or less often if there
 * are many orders, so that it takes a small share of the time. Thread-safe.
 */
@Component
class DueAmounts extends BackgroundLoop {

  /** The sums as of a time; by currency and minute. */
  record Sums(@Nullable Instant asOf, Map<String, List<BigDecimal>> byMinute) {}

  private static final Duration SHORTEST_PAUSE = Duration.ofSeconds(10);

  /** A pause takes this many times as long as the work before it. */
  private static final int REST = 20;

  private static final int MOST_CURRENCIES = 20;

  private final Shards shards;
  private final DatabaseClock clock;
  private final PendingOrderStatistics statistics;
  private final StepHealth health;
  private volatile Sums sums = new Sums(null, Map.of());

  DueAmounts(
      Shards shards,
      DatabaseClock clock,
      PendingOrderStatistics statistics,
      StepHealthRegistry registry) {
    super(
        registry.step("due-amounts"),
        LifecyclePhases.SHARD_OBSERVERS,
        SHORTEST_PAUSE,
        "the forecast's amounts are not updated");
    this.shards = shards;
    this.clock = clock;
    this.statistics = statistics;
    this.health = registry.step("due-amounts");
  }

  Sums sums() {
    return sums;
  }

  @Override
  protected void runOnce() throws InterruptedException {
    long startNanos = System.nanoTime();
    Map<String, List<BigDecimal>> byMinute = new TreeMap<>();
    for (int shard : shards.owned()) {
      statistics.amountsDueWithinTheHour(shard).forEach(amount -> add(byMinute, amount));
    }
    if (clock.isSet()) {
      sums = new Sums(clock.now(), byMinute);
      health.succeeded();
    }
    long tookNanos = System.nanoTime() - startNanos;
    TimeUnit.NANOSECONDS.sleep(Math.max(SHORTEST_PAUSE.toNanos(), REST * tookNanos));
  }

  private static void add(Map<String, List<BigDecimal>> byMinute, DueAmount due) {
    if (!byMinute.containsKey(due.currency()) && byMinute.size() == MOST_CURRENCIES) {
      return;
    }
    List<BigDecimal> minutes =
        byMinute.computeIfAbsent(
            due.currency(),
            currency ->
                new ArrayList<>(Collections.nCopies(InstanceReport.MINUTES, BigDecimal.ZERO)));
    minutes.set(due.minute(), minutes.get(due.minute()).add(due.amount()));
  }
}
