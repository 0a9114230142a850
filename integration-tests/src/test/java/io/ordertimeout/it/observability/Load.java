package io.ordertimeout.it.observability;

import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Shop;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * A steady rate of orders until it is closed: most are paid, some are closed, some are never paid,
 * some are paid after their cancellation, and some are changed or are being paid.
 */
final class Load implements AutoCloseable {

  private static final Duration TICK = Duration.ofMillis(50);
  private static final String TIMEOUT = "PT2S";
  private static final int LATE = 100;

  private final Shop shop;
  private final String created;
  private final String paid;
  private final String closed;
  private final String attempts;
  private final String changed;
  private final ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor();
  private final ScheduledFuture<?> ticks;
  private int number;

  private Load(Scenario scenario) {
    this.shop = scenario.shop();
    this.created = scenario.topics().created();
    this.paid = scenario.topics().paid();
    this.closed = scenario.topics().closed();
    this.attempts = scenario.topics().attempts();
    this.changed = scenario.topics().changed();
    this.ticks =
        scheduler.scheduleAtFixedRate(this::tick, 0, TICK.toMillis(), TimeUnit.MILLISECONDS);
  }

  static Load start(Scenario scenario) {
    return new Load(scenario);
  }

  private void tick() {
    String order = "order-" + number;
    Map<String, ?> amount = Map.of("value", 19.9, "currency", "EUR");
    Shop.await(
        shop.send(created, order, Map.of("timeout", TIMEOUT, "channel", "web", "amount", amount)));
    switch (number % 10) {
      case 0 -> Shop.await(shop.send(closed, order, Map.of("reason", "CUSTOMER")));
      case 1 -> Shop.await(shop.send(attempts, order, Map.of("status", "ENDED")));
      case 2 -> Shop.await(shop.send(changed, order, Map.of("timeout", TIMEOUT)));
      case 3 -> pay(number - LATE);
      default -> pay(number);
    }
    number++;
  }

  private void pay(int order) {
    if (order >= 0) {
      Shop.await(shop.send(paid, "order-" + order, Map.of("paymentId", "payment-" + order)));
    }
  }

  /** Returns whether the load still runs: it ends if an event cannot be published. */
  boolean isRunning() {
    return !ticks.isDone();
  }

  @Override
  public void close() {
    scheduler.shutdownNow();
  }
}
