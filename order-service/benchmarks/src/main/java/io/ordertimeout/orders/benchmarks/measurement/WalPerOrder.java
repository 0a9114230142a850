package io.ordertimeout.orders.benchmarks.measurement;

import io.ordertimeout.orders.benchmarks.report.Results.Section;
import io.ordertimeout.orders.benchmarks.servers.Servers;
import io.ordertimeout.orders.benchmarks.servers.Waiting;
import io.ordertimeout.orders.benchmarks.traffic.Customers;
import io.ordertimeout.orders.benchmarks.traffic.Judge;
import io.ordertimeout.orders.benchmarks.traffic.Shop;
import io.ordertimeout.orders.benchmarks.traffic.Trial;
import java.time.Duration;

/** The bytes that each step of an order adds to Postgres's write-ahead log. */
final class WalPerOrder {

  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final Shop shop;
  private final int orders;

  WalPerOrder(Shop shop, int orders) {
    this.shop = shop;
    this.orders = orders;
  }

  /** Measures without full-page images, which depend on the time since the last checkpoint. */
  void measure(Section section, String row, long firstNumber) {
    Servers servers = shop.servers();
    servers.fullPageImages(false);
    try (Trial trial = new Trial(shop, firstNumber, 2 * orders)) {
      Judge judge = trial.judge();
      Customers customers = trial.customers();
      long deadline = System.currentTimeMillis() + Duration.ofSeconds(30).toMillis();
      long begin = wal();
      for (int i = 0; i < 2 * orders; i++) {
        customers.create(deadline);
      }
      awaitRead(customers, shop.created());
      section.add(row, "registered", (wal() - begin) / (2.0 * orders));
      begin = wal();
      for (int i = 0; i < orders; i++) {
        customers.pay(firstNumber + i);
      }
      awaitRead(customers, shop.paid());
      section.add(row, "paid", (wal() - begin) / (double) orders);
      Waiting.until(() -> System.currentTimeMillis() > deadline - 1_000, PATIENCE);
      begin = wal();
      Waiting.until(() -> judge.cancelled() >= orders, PATIENCE);
      Waiting.until(() -> unpublished() == 0, PATIENCE);
      section.add(row, "cancelled and published", (wal() - begin) / (double) orders);
    } finally {
      servers.fullPageImages(true);
    }
  }

  private long wal() {
    return shop.servers().postgresUsage().walBytes();
  }

  private long unpublished() {
    return shop.database()
        .admin()
        .sql("select count(*) from outbox where published_at is null")
        .query(Long.class)
        .single();
  }

  private void awaitRead(Customers customers, String topic) {
    customers.flush();
    shop.awaitRead(topic, PATIENCE);
  }
}
