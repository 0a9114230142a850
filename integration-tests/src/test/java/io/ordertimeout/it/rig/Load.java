package io.ordertimeout.it.rig;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Orders at a steady rate, 70 of 100 of which are paid: most in time, some late. It remembers what
 * it did, so that the outcome can be held against it.
 */
public final class Load implements AutoCloseable {

  private static final int ORDERS_A_TICK = 2;
  private static final Duration TICK = Duration.ofMillis(10);
  private static final double PAID = 0.7;

  /** An order and, once Kafka has its payment, the time at which Kafka said so. */
  public static final class Order {
    public final String id;
    public final Instant deadline;
    public volatile boolean payment;
    public volatile @Nullable Instant paidAcknowledged;

    Order(String id, Instant deadline) {
      this.id = id;
      this.deadline = deadline;
    }

    public boolean paidInTime() {
      Instant acknowledged = paidAcknowledged;
      return acknowledged != null && acknowledged.isBefore(deadline);
    }
  }

  private final Stage stage;
  private final Random random = new Random(20_260_101);
  private final ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor();
  private final ConcurrentLinkedQueue<Order> orders = new ConcurrentLinkedQueue<>();
  private final AtomicInteger unfinished = new AtomicInteger();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final Future<?> ticks;

  /** How many orders there are; the scheduler's thread alone uses it. */
  private int created;

  private Load(Stage stage) {
    this.stage = stage;
    this.ticks =
        scheduler.scheduleAtFixedRate(this::tick, 0, TICK.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Begins to publish two hundred orders a second. */
  public static Load start(Stage stage) {
    return new Load(stage);
  }

  private void tick() {
    for (int i = 0; i < ORDERS_A_TICK; i++) {
      create();
    }
  }

  private void create() {
    Instant createdAt = Instant.now().truncatedTo(ChronoUnit.MICROS);
    Duration timeout = Duration.ofMillis(2_000 + random.nextInt(4_000));
    Order order = new Order("order-" + created++, createdAt.plus(timeout));
    orders.add(order);
    publish(
        order,
        stage.topics().created(),
        Map.of("createdAt", createdAt.toString(), "timeout", timeout.toString()),
        false);
    if (random.nextDouble() < PAID) {
      order.payment = true;
      unfinished.incrementAndGet();
      long delay = (long) (timeout.toMillis() * 1.1 * random.nextDouble());
      Future<?> unused =
          scheduler.schedule(
              () -> {
                publish(
                    order,
                    stage.topics().paid(),
                    Map.of("paymentId", "payment-of-" + order.id),
                    true);
                unfinished.decrementAndGet();
              },
              delay,
              TimeUnit.MILLISECONDS);
    }
  }

  private void publish(Order order, String topic, Map<String, ?> fields, boolean payment) {
    unfinished.incrementAndGet();
    Future<?> unused =
        stage
            .shop()
            .send(topic, order.id, fields)
            .whenComplete(
                (metadata, thrown) -> {
                  if (thrown != null) {
                    failure.set(thrown);
                  } else if (payment) {
                    order.paidAcknowledged = Instant.now();
                  }
                  unfinished.decrementAndGet();
                });
  }

  /** Creates no more orders, publishes the payments still to come, and returns all orders. */
  public List<Order> finish() {
    ticks.cancel(false);
    await("payments").atMost(Duration.ofSeconds(60)).until(() -> unfinished.get() == 0);
    Throwable thrown = failure.get();
    if (thrown != null) {
      throw new IllegalStateException("an event did not reach Kafka", thrown);
    }
    return List.copyOf(orders);
  }

  @Override
  public void close() {
    scheduler.shutdownNow();
  }
}
