package io.ordertimeout.orders.operator.status;

import io.ordertimeout.orders.operator.status.InstanceReport.ChannelReport;
import io.ordertimeout.orders.order.PendingOrderStatistics;
import io.ordertimeout.orders.order.PendingOrderStatistics.DueAmount;
import io.ordertimeout.orders.platform.loop.PeriodicTasks;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.shard.Shards;
import io.ordertimeout.orders.suspension.Suspensions;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * The amounts of the orders of the owned shards that come due within the next hour. The wheels know
 * no amounts, so Postgres sums them up every ten seconds. If very many orders of a shard come due
 * within a minute, it sums up a sample, which is extrapolated to the number that the wheels know.
 * Thread-safe.
 */
@Component
class DueAmounts {

  /**
   * The sums as of a time.
   *
   * @param asOf when they were read; null if that has not happened yet
   * @param byMinute amounts by currency and minute
   * @param byChannel orders and amounts by sales channel
   */
  record Sums(
      @Nullable Instant asOf,
      Map<String, List<BigDecimal>> byMinute,
      List<ChannelReport> byChannel) {}

  private static final Duration INTERVAL = Duration.ofSeconds(10);

  /** How many orders of a shard and minute are summed up; more are extrapolated. */
  private static final int SAMPLE = 100;

  private static final int MOST_CURRENCIES = 20;

  private final Shards shards;
  private final DatabaseClock clock;
  private final PendingOrderStatistics statistics;
  private final Suspensions suspensions;
  private volatile Sums sums = new Sums(null, Map.of(), List.of());

  DueAmounts(
      Shards shards,
      DatabaseClock clock,
      PendingOrderStatistics statistics,
      Suspensions suspensions,
      PeriodicTasks tasks) {
    this.shards = shards;
    this.clock = clock;
    this.statistics = statistics;
    this.suspensions = suspensions;
    tasks.repeat("due-amounts", INTERVAL, "the forecast's amounts are not updated", this::readSums);
  }

  Sums sums() {
    return sums;
  }

  private void readSums() throws InterruptedException {
    if (clock.isSet()) {
      List<DueAmount> read = statistics.amountsDueWithinTheHour(shards.owned(), SAMPLE);
      List<Long> due = DueOrders.byMinute(shards);
      sums =
          new Sums(
              clock.now(),
              byMinute(read, due),
              DueByChannel.of(read, due, suspensions.pausedChannels()));
    }
  }

  /** Returns the amounts by currency and minute, given the number of due orders by minute. */
  static Map<String, List<BigDecimal>> byMinute(List<DueAmount> read, List<Long> due) {
    Map<String, List<BigDecimal>> byMinute = new TreeMap<>();
    for (int minute = 0; minute < InstanceReport.MINUTES; minute++) {
      add(byMinute, minute, due.get(minute), read);
    }
    return byMinute;
  }

  private static void add(
      Map<String, List<BigDecimal>> byMinute, int minute, long due, List<DueAmount> read) {
    MinuteSample sample = MinuteSample.of(minute, read, due);
    for (DueAmount amount : read) {
      if (amount.minute() == minute && amount.currency() != null) {
        add(byMinute, minute, amount.currency(), sample.amount(amount));
      }
    }
  }

  private static void add(
      Map<String, List<BigDecimal>> byMinute, int minute, String currency, BigDecimal amount) {
    if (!byMinute.containsKey(currency) && byMinute.size() == MOST_CURRENCIES) {
      return;
    }
    List<BigDecimal> minutes =
        byMinute.computeIfAbsent(
            currency,
            first -> new ArrayList<>(Collections.nCopies(InstanceReport.MINUTES, BigDecimal.ZERO)));
    minutes.set(minute, minutes.get(minute).add(amount));
  }
}
