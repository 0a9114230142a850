package io.ordertimeout.orders.benchmarks.measurement;

import io.ordertimeout.orders.benchmarks.contender.OrderTimeout;
import io.ordertimeout.orders.benchmarks.contender.ServiceProgram;
import io.ordertimeout.orders.benchmarks.report.Results.Section;
import io.ordertimeout.orders.benchmarks.servers.Waiting;
import io.ordertimeout.orders.benchmarks.traffic.Judge;
import io.ordertimeout.orders.benchmarks.traffic.OldEvents;
import io.ordertimeout.orders.benchmarks.traffic.Shop;
import io.ordertimeout.orders.benchmarks.traffic.Trial;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/**
 * The first start of the service on topics that a shop has used for long: how long it reads old
 * records until it decides an order that is due, and what they cost in Postgres.
 */
final class FirstStart {

  /** The time that the old records span, evenly; half of their orders are stale. */
  private static final Duration AGE = Duration.ofDays(2);

  private static final Duration UNTIL_PAID = Duration.ofMinutes(1);

  /** Orders that come due at the start, so that probably each shard has one. */
  private static final int DUE = 24;

  private static final Duration UNTIL_DUE = Duration.ofSeconds(1);
  private static final Duration PATIENCE = Duration.ofHours(3);
  private static final double BYTES_PER_MEGABYTE = 1e6;

  private static final String SIZE =
      """
      select sum(pg_total_relation_size(oid)) from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace
      """;

  private static final String ROWS = "select count(*) from order_deadline";

  private final Shop shop;
  private final ServiceProgram program;
  private final Section section;
  private final String row;

  FirstStart(Shop shop, ServiceProgram program, Section section, String row) {
    this.shop = shop;
    this.program = program;
    this.section = section;
    this.row = row;
  }

  /** Measures with creations and payments of the same orders; returns the violations. */
  List<String> withPaidOrders(long firstNumber, long records) {
    long orders = records / 2;
    Instant first = Instant.now().minus(AGE);
    try (OldEvents events = new OldEvents(shop)) {
      for (long order = 0; order < orders; order++) {
        Instant at = first.plus(AGE.multipliedBy(order).dividedBy(orders));
        events.create(firstNumber + order, at);
        events.pay(firstNumber + order, at.plus(UNTIL_PAID));
      }
    }
    return measure(firstNumber + orders);
  }

  /** Measures with payments of orders that were never created; returns the violations. */
  List<String> withPaymentsAlone(long firstNumber, long records) {
    Instant first = Instant.now().minus(AGE);
    try (OldEvents events = new OldEvents(shop)) {
      for (long payment = 0; payment < records; payment++) {
        events.pay(firstNumber + payment, first.plus(AGE.multipliedBy(payment).dividedBy(records)));
      }
    }
    return measure(firstNumber + records);
  }

  private List<String> measure(long dueNumber) {
    long records = shop.records(shop.created()) + shop.records(shop.paid());
    try (Trial trial = new Trial(shop, dueNumber, DUE);
        OrderTimeout service = new OrderTimeout(program, shop)) {
      long deadline = System.currentTimeMillis() + UNTIL_DUE.toMillis();
      for (int i = 0; i < DUE; i++) {
        trial.customers().create(deadline);
      }
      trial.customers().flush();
      long begin = System.currentTimeMillis();
      CompletableFuture<Double> ready =
          CompletableFuture.supplyAsync(
              () -> {
                service.start(PATIENCE);
                return secondsSince(begin);
              });
      Judge judge = trial.judge();
      await("the first decision", () -> judge.cancelled() > 0, ready);
      double firstDecided = secondsSince(begin);
      await("all decisions", () -> judge.cancelled() >= DUE, ready);
      double lastDecided = (judge.lastCancelledAt() - begin) / 1e3;
      await("all records to be stored", () -> stored() >= records + DUE, ready);
      double stored = secondsSince(begin);
      section.add(row, "start to ready, s", ready.join());
      section.add(row, "first due order decided, s", firstDecided);
      section.add(row, "last of %d, s".formatted(DUE), lastDecided);
      section.add(row, "all records stored, s", stored);
      double reading =
          Duration.between(service.owningShardsSince(), Instant.now()).toMillis() / 1e3;
      section.add(row, "records/s", records / reading);
      addCost(service, records);
      List<String> violations = new ArrayList<>(judge.verdict().violationsWithoutCrash());
      long cancelled = count(ROWS + " where state = 'CANCELLED'");
      if (cancelled != DUE) {
        violations.add("%s: %d orders were cancelled, not %d".formatted(row, cancelled, DUE));
      }
      return violations;
    }
  }

  private void addCost(OrderTimeout service, long records) {
    Usage used = Usage.of(service, shop.servers());
    section.add(row, "CPU, µs per record", Usage.micros(used.contender()) / records);
    section.add(row, "rows", (double) count(ROWS));
    double bytes = count(SIZE);
    section.add(row, "tables and indexes, MB", bytes / BYTES_PER_MEGABYTE);
    section.add(row, "bytes per record", bytes / records);
  }

  private static void await(String what, BooleanSupplier condition, CompletableFuture<?> start) {
    if (!Waiting.until(() -> condition.getAsBoolean() || start.isCompletedExceptionally(), PATIENCE)
        || start.isCompletedExceptionally()) {
      throw new IllegalStateException(what + " did not come within " + PATIENCE);
    }
  }

  private static double secondsSince(long beginMillis) {
    return (System.currentTimeMillis() - beginMillis) / 1e3;
  }

  /** The number of input records that are stored. */
  private long stored() {
    return count(
        """
        select coalesce(sum(next_offset), 0) from intake_position
        where topic in ('%s', '%s')
        """
            .formatted(shop.created(), shop.paid()));
  }

  private long count(String query) {
    return shop.database().admin().sql(query).query(Long.class).single();
  }
}
