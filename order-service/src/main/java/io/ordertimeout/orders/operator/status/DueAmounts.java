package io.ordertimeout.orders.operator.status;

import io.ordertimeout.orders.LifecyclePhases;
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
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/**
 * What the orders of the owned shards that come due within the next hour amount to. The wheel knows
 * no amounts, so they are summed up in Postgres, shard by shard, and so seldom that it takes a
 * small part of the time: every ten seconds, or longer the more orders there are. Thread-safe.
 */
@Component
class DueAmounts extends BackgroundLoop {

  /** The sums of some time. */
  record Sums(@Nullable Instant asOf, Map<String, List<BigDecimal>> byMinute) {}

  private static final Duration SHORTEST_PAUSE = Duration.ofSeconds(10);

  /** Pauses are that many times as long as the work between them. */
  private static final int REST = 20;

  private static final int MOST_CURRENCIES = 20;

  private static final String SUM =
      """
      select currency, floor(extract(epoch from deadline - now()) / 60)::int as minute,
        sum(amount) as amount
      from order_deadline
      where shard = ? and state = 'PENDING' and deadline >= now()
        and deadline < now() + interval '60 min' and currency is not null and amount is not null
      group by 1, 2
      """;

  private final Shards shards;
  private final DatabaseClock clock;
  private final JdbcTemplate jdbc;
  private final StepHealth step;
  private volatile Sums sums = new Sums(null, Map.of());

  DueAmounts(Shards shards, DatabaseClock clock, JdbcTemplate jdbc, StepHealthRegistry steps) {
    super(
        steps.step("due-amounts"),
        LifecyclePhases.SHARD_OBSERVERS,
        SHORTEST_PAUSE,
        "the forecast's amounts stand still");
    this.shards = shards;
    this.clock = clock;
    this.jdbc = jdbc;
    this.step = steps.step("due-amounts");
  }

  Sums sums() {
    return sums;
  }

  @Override
  protected void runOnce() throws InterruptedException {
    long startNanos = System.nanoTime();
    Map<String, List<BigDecimal>> byMinute = new TreeMap<>();
    for (int shard : shards.owned()) {
      jdbc.query(
          SUM,
          rs -> {
            add(
                byMinute,
                rs.getString("currency"),
                rs.getInt("minute"),
                rs.getBigDecimal("amount"));
          },
          shard);
    }
    if (clock.isSet()) {
      sums = new Sums(clock.now(), byMinute);
      step.succeeded();
    }
    long tookNanos = System.nanoTime() - startNanos;
    TimeUnit.NANOSECONDS.sleep(Math.max(SHORTEST_PAUSE.toNanos(), REST * tookNanos));
  }

  private static void add(
      Map<String, List<BigDecimal>> byMinute, String currency, int minute, BigDecimal amount) {
    if (!byMinute.containsKey(currency) && byMinute.size() == MOST_CURRENCIES) {
      return;
    }
    List<BigDecimal> minutes =
        byMinute.computeIfAbsent(
            currency,
            c -> new ArrayList<>(Collections.nCopies(InstanceReport.MINUTES, BigDecimal.ZERO)));
    minutes.set(minute, minutes.get(minute).add(amount));
  }
}
