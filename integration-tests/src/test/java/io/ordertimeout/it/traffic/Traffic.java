package io.ordertimeout.it.traffic;

import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Acknowledgements;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.traffic.Message.Delivery;
import java.time.Duration;
import java.time.Instant;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;

/**
 * A shop's orders at a steady rate, each by its script. The same seed makes the same orders, but
 * for the time of day. Its producers outlast an outage of Kafka; what they send late, comes late.
 */
public final class Traffic implements AutoCloseable {

  private static final Duration TICK = Duration.ofMillis(10);
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final Scenario scenario;
  private final Mix mix;
  private final SplittableRandom random;
  private final int ordersPerSecond;
  private final int limit;
  private final Acknowledgements acknowledgements;
  private final Shop shop;
  private final TransactionalTill committing;
  private final TransactionalTill aborting;
  private final ScheduledThreadPoolExecutor scheduler = new ScheduledThreadPoolExecutor(1);
  private final AtomicInteger unfinished = new AtomicInteger();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final long startNanos = System.nanoTime();
  private final Future<?> ticks;

  private final AtomicInteger created = new AtomicInteger();

  private Traffic(
      Scenario scenario,
      Acknowledgements acknowledgements,
      Mix mix,
      long seed,
      int ordersPerSecond,
      int limit) {
    this.scenario = scenario;
    this.mix = mix;
    this.random = new SplittableRandom(seed);
    this.ordersPerSecond = ordersPerSecond;
    this.limit = limit;
    this.acknowledgements = acknowledgements;
    this.shop = scenario.patientShop();
    this.committing = TransactionalTill.open(scenario, Delivery.COMMITTED, acknowledgements);
    this.aborting = TransactionalTill.open(scenario, Delivery.ABORTED, acknowledgements);
    this.ticks =
        scheduler.scheduleAtFixedRate(this::tick, 0, TICK.toMillis(), TimeUnit.MILLISECONDS);
  }

  public static Traffic start(
      Scenario scenario,
      Acknowledgements acknowledgements,
      Mix mix,
      long seed,
      int ordersPerSecond,
      int limit) {
    return new Traffic(scenario, acknowledgements, mix, seed, ordersPerSecond, limit);
  }

  /** Creates as many orders as there should be by now. */
  private void tick() {
    try {
      long due =
          TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos) * ordersPerSecond / 1_000;
      while (created.get() < Math.min(due, limit)) {
        create("order-" + created.get());
        created.incrementAndGet();
      }
    } catch (RuntimeException e) {
      failure.set(e);
    }
  }

  private void create(String orderId) {
    // A generator of its own, so that a change to one fate leaves the other orders as they are.
    SplittableRandom own = random.split();
    OrderScript.write(own, mix, orderId, Instant.now()).forEach(this::schedule);
    if (own.nextDouble() < mix.garbage()) {
      sent(shop.send(Garbage.record(own, scenario.topics(), orderId)));
    }
  }

  private void schedule(Message message) {
    unfinished.incrementAndGet();
    long delay = Math.max(0, Duration.between(Instant.now(), message.at()).toNanos());
    Future<?> unused =
        scheduler.schedule(
            () -> {
              send(message);
              unfinished.decrementAndGet();
            },
            delay,
            TimeUnit.NANOSECONDS);
  }

  private void send(Message message) {
    switch (message.delivery()) {
      case PLAIN -> {
        String topic =
            switch (message.input()) {
              case CREATED -> scenario.topics().created();
              case PAID -> scenario.topics().paid();
              case CLOSED -> scenario.topics().closed();
            };
        sent(shop.send(topic, message.orderId(), message.fields()));
      }
      case COMMITTED -> committing.take(message);
      case ABORTED -> aborting.take(message);
    }
  }

  // The callback counts.
  @SuppressWarnings("FutureReturnValueIgnored")
  private void sent(CompletableFuture<RecordMetadata> sent) {
    unfinished.incrementAndGet();
    sent.whenComplete(
        (metadata, thrown) -> {
          if (thrown == null) {
            acknowledgements.add(metadata);
            acknowledgements.commit(metadata);
          } else {
            acknowledgements.doubt();
          }
          unfinished.decrementAndGet();
        });
  }

  /** How many orders there are so far. */
  public int created() {
    return created.get();
  }

  /** Waits until as many orders were begun as there are to be. */
  public void awaitLimit(Duration patience) {
    await("orders").atMost(patience).until(() -> created.get() >= limit);
  }

  /** Begins no more orders, says what is left to say of the others, and returns. */
  public void finish() {
    ticks.cancel(false);
    await("events to be sent").atMost(PATIENCE).until(() -> unfinished.get() == 0);
    committing.finish();
    aborting.finish();
    Throwable thrown = failure.get();
    if (thrown != null) {
      throw new IllegalStateException("the traffic failed", thrown);
    }
  }

  @Override
  public void close() {
    scheduler.shutdownNow();
    committing.close();
    aborting.close();
    shop.close();
  }
}
