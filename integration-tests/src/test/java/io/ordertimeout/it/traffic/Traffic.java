package io.ordertimeout.it.traffic;

import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Acknowledgements;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.traffic.ScheduledEvent.Delivery;
import java.time.Duration;
import java.time.Instant;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;

/**
 * Generates a shop's orders at a steady rate, each by its script. The same seed generates the same
 * orders, except for the time of day. The producers retry through an outage of Kafka; what they
 * send late arrives late.
 */
public final class Traffic implements AutoCloseable {

  private static final Duration TICK = Duration.ofMillis(10);
  private final Scenario scenario;
  private final TrafficProfile profile;
  private final SplittableRandom random;
  private final int ordersPerSecond;
  private final int limit;
  private final Acknowledgements acknowledgements;
  private final Shop shop;
  private final TransactionalPaymentProducer committing;
  private final TransactionalPaymentProducer aborting;
  private final ScheduledThreadPoolExecutor scheduler = new ScheduledThreadPoolExecutor(1);
  private final AtomicInteger created = new AtomicInteger();
  private final AtomicInteger unfinished = new AtomicInteger();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final long startNanos = System.nanoTime();
  private final Future<?> ticks;

  private Traffic(
      Scenario scenario,
      Acknowledgements acknowledgements,
      TrafficProfile profile,
      long seed,
      int ordersPerSecond,
      int limit) {
    this.scenario = scenario;
    this.profile = profile;
    this.random = new SplittableRandom(seed);
    this.ordersPerSecond = ordersPerSecond;
    this.limit = limit;
    this.acknowledgements = acknowledgements;
    this.shop = scenario.patientShop();
    this.committing =
        TransactionalPaymentProducer.open(scenario, Delivery.COMMITTED, acknowledgements);
    this.aborting = TransactionalPaymentProducer.open(scenario, Delivery.ABORTED, acknowledgements);
    this.ticks =
        scheduler.scheduleAtFixedRate(this::tick, 0, TICK.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Starts to create orders without a limit. */
  public static Traffic start(
      Scenario scenario,
      Acknowledgements acknowledgements,
      TrafficProfile profile,
      long seed,
      int ordersPerSecond) {
    return start(scenario, acknowledgements, profile, seed, ordersPerSecond, Integer.MAX_VALUE);
  }

  /** Starts to create orders, at most {@code limit} of them. */
  public static Traffic start(
      Scenario scenario,
      Acknowledgements acknowledgements,
      TrafficProfile profile,
      long seed,
      int ordersPerSecond,
      int limit) {
    return new Traffic(scenario, acknowledgements, profile, seed, ordersPerSecond, limit);
  }

  /** Creates the orders that are due by the rate. */
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
    // Each order has its own generator, so that a changed script leaves the other orders alone.
    SplittableRandom own = random.split();
    Instant now = Instant.now();
    OrderScript.write(own, profile, orderId, now)
        .forEach(event -> schedule(event.at(), () -> send(event)));
    if (own.nextDouble() < profile.garbage()) {
      ProducerRecord<byte[], byte[]> garbage =
          GarbageRecords.record(own, scenario.topics(), orderId);
      // Any time from the creation until after the deadline.
      schedule(
          now.plusMillis(own.nextLong(profile.longest().toMillis())),
          () -> track(shop.send(garbage)));
    }
  }

  private void schedule(Instant at, Runnable send) {
    unfinished.incrementAndGet();
    long delay = Math.max(0, Duration.between(Instant.now(), at).toNanos());
    Future<?> unused =
        scheduler.schedule(
            () -> {
              send.run();
              unfinished.decrementAndGet();
            },
            delay,
            TimeUnit.NANOSECONDS);
  }

  private void send(ScheduledEvent event) {
    switch (event.delivery()) {
      case PLAIN -> {
        String topic =
            switch (event.input()) {
              case CREATED -> scenario.topics().created();
              case PAID -> scenario.topics().paid();
              case CLOSED -> scenario.topics().closed();
              case ATTEMPT -> scenario.topics().attempts();
              case CHANGED -> scenario.topics().changed();
            };
        track(shop.send(topic, event.orderId(), event.fields()));
      }
      case COMMITTED -> committing.add(event);
      case ABORTED -> aborting.add(event);
    }
  }

  // The callback counts.
  @SuppressWarnings("FutureReturnValueIgnored")
  private void track(CompletableFuture<RecordMetadata> sent) {
    unfinished.incrementAndGet();
    sent.whenComplete(
        (metadata, thrown) -> {
          if (thrown == null) {
            acknowledgements.add(metadata);
            acknowledgements.commit(metadata);
          } else {
            acknowledgements.addUnknown();
          }
          unfinished.decrementAndGet();
        });
  }

  /** Returns the number of orders created so far. */
  public int created() {
    return created.get();
  }

  /** Waits until all orders of a limited traffic are created. */
  public void awaitLimit(Duration patience) {
    await("orders").atMost(patience).until(() -> created.get() >= limit);
  }

  /** Stops creating orders and returns once all events of the others are sent. */
  public void finish() {
    ticks.cancel(false);
    await("events to be sent").until(() -> unfinished.get() == 0);
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
