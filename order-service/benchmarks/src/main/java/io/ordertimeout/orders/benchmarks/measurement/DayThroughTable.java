package io.ordertimeout.orders.benchmarks.measurement;

import io.ordertimeout.orders.benchmarks.contender.OrderTimeout;
import io.ordertimeout.orders.benchmarks.report.Plot;
import io.ordertimeout.orders.benchmarks.report.Plot.Line;
import io.ordertimeout.orders.benchmarks.report.Results.Section;
import io.ordertimeout.orders.benchmarks.servers.Waiting;
import io.ordertimeout.orders.benchmarks.traffic.Customers;
import io.ordertimeout.orders.benchmarks.traffic.Judge;
import io.ordertimeout.orders.benchmarks.traffic.Shop;
import io.ordertimeout.orders.benchmarks.traffic.Trial;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The orders of a day pass through the table hour by hour, and each is purged an hour after it was
 * settled. The hours are shortened: once the orders of one are settled, a statement that the
 * service does not issue makes them an hour older, and the tables are vacuumed, as Postgres does
 * many times in a real hour. The statement writes a version of each row, so the table has to get
 * along with more dead rows than in a real day.
 */
final class DayThroughTable {

  /** The settings that the service needs for it. */
  static final Map<String, String> SETTINGS =
      Map.of(
          "order-timeout.deadline.retention", "1h",
          "order-timeout.deadline.stale-after", "1h",
          "order-timeout.deadline.purge-interval", "1s");

  private static final int HOURS = 24;
  private static final int ORDERS_PER_SECOND = 15_000;
  private static final Duration LEAST_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final double BYTES_PER_MEGABYTE = 1e6;

  private static final String MAKE_OLDER =
      """
      update order_deadline set
        created_at = created_at - interval '1 h', deadline = deadline - interval '1 h',
        decided_at = decided_at - interval '1 h'
      where state <> 'PENDING' and decided_at > now() - interval '1 h'
      """;

  private static final String SIZES =
      """
      select
        pg_table_size('order_deadline') as orders, pg_indexes_size('order_deadline') as indexes,
        pg_total_relation_size('outbox') as others
      """;

  /** Bytes of the table of orders, of its indexes, and of the table of events. */
  private record Sizes(long orders, long indexes, long others) {

    double megabytes() {
      return (orders + indexes + others) / BYTES_PER_MEGABYTE;
    }
  }

  private record Hour(double createdPerSecond, Sizes sizes) {}

  private final Shop shop;
  private final OrderTimeout service;
  private final int ordersPerHour;

  DayThroughTable(Shop shop, OrderTimeout service, int orders) {
    this.shop = shop;
    this.service = service;
    this.ordersPerHour = Math.max(1, orders / HOURS);
  }

  /** Measures and adds a row to the section; returns what is wrong with the cancellations. */
  List<String> measure(Section section, String row, long firstNumber) {
    service.start();
    List<String> violations = new ArrayList<>();
    List<Hour> hours = new ArrayList<>();
    for (int hour = 0; hour < HOURS; hour++) {
      hours.add(hour(firstNumber + (long) hour * ordersPerHour, violations));
    }
    // The first hour finds an empty table and a cold process, the second one nothing to purge.
    Hour first = hours.get(2);
    Hour last = hours.get(HOURS - 1);
    section.add(row, "created/s, third hour", first.createdPerSecond());
    section.add(row, "last hour", last.createdPerSecond());
    section.add(row, "tables and indexes after the third hour, MB", first.sizes().megabytes());
    section.add(
        row,
        "at most",
        hours.stream().mapToDouble(each -> each.sizes().megabytes()).max().orElseThrow());
    section.add(row, "after the last", last.sizes().megabytes());
    section.plot(
        new Plot(
            row + ": created orders per second, by hour",
            List.of(new Line("created", hours.stream().map(Hour::createdPerSecond).toList()))));
    section.plot(
        new Plot(
            row + ": sizes, MB, by hour",
            List.of(
                new Line(
                    "orders",
                    megabytes(hours.stream().map(each -> each.sizes().orders()).toList())),
                new Line(
                    "indexes",
                    megabytes(hours.stream().map(each -> each.sizes().indexes()).toList())),
                new Line(
                    "events",
                    megabytes(hours.stream().map(each -> each.sizes().others()).toList())))));
    return violations;
  }

  private static List<Double> megabytes(List<Long> bytes) {
    return bytes.stream().map(each -> each / BYTES_PER_MEGABYTE).toList();
  }

  private Hour hour(long firstNumber, List<String> violations) {
    Duration timeout = LEAST_TIMEOUT.plusSeconds(ordersPerHour / ORDERS_PER_SECOND);
    try (Trial trial = new Trial(shop, firstNumber, ordersPerHour)) {
      Judge judge = trial.judge();
      Customers customers = trial.customers();
      long begin = System.nanoTime();
      long deadline = System.currentTimeMillis() + timeout.toMillis();
      for (int i = 0; i < ordersPerHour; i++) {
        customers.create(deadline);
      }
      awaitRead(customers, shop.created());
      double createdPerSecond = ordersPerHour * 1e9 / (System.nanoTime() - begin);
      for (int i = 0; i < ordersPerHour; i += 2) {
        customers.pay(firstNumber + i);
      }
      awaitRead(customers, shop.paid());
      Waiting.until(() -> judge.cancelled() >= judge.unpaid(), timeout.plus(PATIENCE));
      violations.addAll(judge.verdict().violationsWithoutCrash());
      shop.database().admin().sql(MAKE_OLDER).update();
      shop.database().admin().sql("vacuum order_deadline, outbox").update();
      return new Hour(
          createdPerSecond, shop.database().admin().sql(SIZES).query(Sizes.class).single());
    }
  }

  private void awaitRead(Customers customers, String topic) {
    customers.flush();
    shop.awaitRead(topic, PATIENCE);
  }
}
