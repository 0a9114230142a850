package io.ordertimeout.orders.benchmarks.measurement;

import io.ordertimeout.orders.benchmarks.contender.OrderTimeout;
import io.ordertimeout.orders.benchmarks.report.Results.Section;
import io.ordertimeout.orders.benchmarks.servers.Waiting;
import io.ordertimeout.orders.benchmarks.traffic.Customers;
import io.ordertimeout.orders.benchmarks.traffic.Shop;
import io.ordertimeout.orders.benchmarks.traffic.Trial;
import java.time.Duration;
import java.util.function.LongConsumer;
import java.util.stream.LongStream;

/**
 * Events that have collected while the service was down: how fast it stores them once it runs. The
 * first ones only warm it up.
 */
final class IntakeBacklog {

  private static final Duration PATIENCE = Duration.ofMinutes(10);
  private static final Duration TIMEOUT = Duration.ofDays(1);

  private final Shop shop;
  private final OrderTimeout service;
  private final int warmUp;
  private final int orders;

  /** Both numbers count orders. */
  IntakeBacklog(Shop shop, OrderTimeout service, int warmUp, int orders) {
    this.shop = shop;
    this.service = service;
    this.warmUp = warmUp;
    this.orders = orders;
  }

  /** Measures creations, then the payments of the same orders; leaves the service running. */
  void measure(Section section, String row, long firstNumber) {
    long deadline = System.currentTimeMillis() + TIMEOUT.toMillis();
    try (Trial trial = new Trial(shop, firstNumber, warmUp + orders)) {
      Customers customers = trial.customers();
      LongConsumer create = number -> customers.create(deadline);
      measure(section, row, "created", shop.created(), customers, create, firstNumber);
      measure(section, row, "paid", shop.paid(), customers, customers::pay, firstNumber);
    }
  }

  private void measure(
      Section section,
      String row,
      String events,
      String topic,
      Customers customers,
      LongConsumer event,
      long firstNumber) {
    service.close();
    long before = shop.records(topic);
    LongStream.range(firstNumber, firstNumber + warmUp + orders).forEach(event);
    customers.flush();
    service.start();
    long begin = await(topic, before + warmUp);
    Usage usedBefore = Usage.of(service, shop.servers());
    long end = await(topic, before + warmUp + orders);
    Usage used = Usage.of(service, shop.servers()).since(usedBefore);
    section.add(row, events + "/s", orders * 1e9 / (end - begin));
    section.add(row, events + ": CPU, µs", Usage.micros(used.contender()) / orders);
    section.add(row, events + ": CPU of Postgres", Usage.micros(used.postgres()) / orders);
  }

  /** Waits until that many records of the topic are stored; returns when, in nanoseconds. */
  private long await(String topic, long records) {
    if (!Waiting.until(() -> stored(topic) >= records, PATIENCE)) {
      throw new IllegalStateException(stored(topic) + " of " + records + " records are stored");
    }
    return System.nanoTime();
  }

  private long stored(String topic) {
    return shop.database()
        .admin()
        .sql("select coalesce(sum(next_offset), 0) from intake_position where topic = :topic")
        .param("topic", topic)
        .query(Long.class)
        .single();
  }
}
