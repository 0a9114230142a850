package io.ordertimeout.orders.benchmarks.measurement;

import io.ordertimeout.orders.benchmarks.contender.Contender;
import io.ordertimeout.orders.benchmarks.contender.Instances;
import io.ordertimeout.orders.benchmarks.contender.OrderTimeout;
import io.ordertimeout.orders.benchmarks.report.Results.Section;
import io.ordertimeout.orders.benchmarks.servers.Waiting;
import io.ordertimeout.orders.benchmarks.traffic.Judge.Verdict;
import io.ordertimeout.orders.benchmarks.traffic.OpenLoop;
import io.ordertimeout.orders.benchmarks.traffic.Shop;
import io.ordertimeout.orders.benchmarks.traffic.Trial;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** Lateness under a steady load while something happens that takes time or instances away. */
final class DisturbedLateness {

  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final Duration FAR = Duration.ofDays(1);
  private static final long LOCK_SAMPLE_MILLIS = 50;
  private static final long SEED = 12;

  private final Shop shop;
  private final Section section;
  private final OpenLoop load;
  private final Duration warmUp;
  private final LongSupplier numbers;
  private final List<String> violations = new ArrayList<>();

  /**
   * Creates the measurements of a shop.
   *
   * @param numbers returns the first number of as many orders as any measurement needs
   */
  DisturbedLateness(
      Shop shop, Section section, OpenLoop load, Duration warmUp, LongSupplier numbers) {
    this.shop = shop;
    this.section = section;
    this.load = load;
    this.warmUp = warmUp;
    this.numbers = numbers;
  }

  /** What is wrong with the cancellations of all measurements. */
  List<String> violations() {
    return List.copyOf(violations);
  }

  /** Measures while many orders are created that come due much later. */
  void rush(Contender service, int ordersPerSecond) {
    String row = "%,d orders created per second".formatted(ordersPerSecond);
    measure(
        row,
        service,
        duration -> {
          OpenLoop rush = new OpenLoop(ordersPerSecond, 0, FAR, duration);
          try (Trial trial = new Trial(shop, numbers.getAsLong(), rush.atMostOrders())) {
            rush.run(trial.customers(), new Random(SEED));
            section.add(row, "unread events", unread());
          }
        });
    shop.awaitRead(shop.created(), PATIENCE);
  }

  private double unread() {
    return (double) (shop.records(shop.created()) - shop.recordsRead(shop.created()));
  }

  /** Measures while orders are purged, which must begin by itself. */
  void purge(Contender service) {
    String row = "a purge";
    measure(
        row,
        service,
        duration -> {
          long before = deletedOrders();
          Waiting.pause(duration.toMillis());
          section.add(
              row, "purged orders/s", (deletedOrders() - before) * 1e3 / duration.toMillis());
        });
    // What comes next is not to be disturbed by the rest of the purge.
    Waiting.until(() -> StoredOrders.areOldPurged(shop.database()), PATIENCE);
    StoredOrders.vacuum(shop.database());
  }

  private long deletedOrders() {
    return shop.database()
        .admin()
        .sql("select n_tup_del from pg_stat_user_tables where relname = 'order_deadline'")
        .query(Long.class)
        .single();
  }

  /** Measures all instances together, and counts how often one waits for a lock of Postgres. */
  void together(Instances instances) {
    String row = instances.processes().size() + " instances";
    measure(
        row,
        instances,
        duration -> {
          long end = System.nanoTime() + duration.toNanos();
          long waiting = 0;
          long samples = 0;
          while (System.nanoTime() < end) {
            waiting += sessionsWaitingForALock();
            samples++;
            Waiting.pause(LOCK_SAMPLE_MILLIS);
          }
          section.add(row, "sessions waiting for a lock", (double) waiting / samples);
        });
  }

  private long sessionsWaitingForALock() {
    return shop.database()
        .admin()
        .sql("select count(*) from pg_stat_activity where wait_event_type = 'Lock'")
        .query(Long.class)
        .single();
  }

  /** Measures while one instance crashes, which excuses events that are published again. */
  void crash(Instances instances, OrderTimeout victim) {
    String row = "an instance crashes";
    Verdict verdict = measured(row, instances, duration -> victim.kill());
    section.add(row, "published again", (double) verdict.publishedAgain());
    note(row, verdict.violations());
  }

  /** Measures while one instance stops in an orderly way. */
  void stop(Instances instances, OrderTimeout leaving) {
    measure("an instance stops", instances, duration -> leaving.close());
  }

  private void measure(String row, Contender service, Consumer<Duration> meanwhile) {
    note(row, measured(row, service, meanwhile).violationsWithoutCrash());
  }

  private Verdict measured(String row, Contender service, Consumer<Duration> meanwhile) {
    return new SteadyLateness(shop, service, load, warmUp, meanwhile)
        .measure(section, row, numbers.getAsLong());
  }

  private void note(String row, List<String> found) {
    found.forEach(each -> violations.add(row + ": " + each));
  }
}
