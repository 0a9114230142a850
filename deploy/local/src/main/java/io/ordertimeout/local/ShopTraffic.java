package io.ordertimeout.local;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

/** Simulates a shop: generates an {@link OrderScript} per arriving order and sends its events. */
final class ShopTraffic implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ShopTraffic.class);

  private static final long TICK_MILLIS = 5;

  /** After a longer pause of this process, missed orders are skipped instead of sent in a burst. */
  private static final Duration MAX_CATCH_UP = Duration.ofSeconds(5);

  private final LocalOptions.Traffic options;
  private final Clock clock;
  private final Producer<String, byte[]> producer;
  private final JsonMapper json = JsonMapper.shared();
  private final SplittableRandom random;
  private final ArrivalProcess arrivals;
  private final PriorityQueue<OrderScript.TimedEvent> unsentEvents =
      new PriorityQueue<>(Comparator.comparing(OrderScript.TimedEvent::at));
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, "shop-traffic"));
  private final AtomicLong failedSends = new AtomicLong();
  private final String run;

  private Instant start;
  private Instant nextOrderAt;
  private long orders;
  private @Nullable ScheduledFuture<?> schedule;

  /** Creates traffic to the given broker; nothing is sent before {@link #start}. */
  static ShopTraffic to(
      String bootstrapServers, LocalOptions.Traffic options, long seed, Clock clock) {
    return new ShopTraffic(
        new KafkaProducer<>(
            Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                bootstrapServers,
                ProducerConfig.CLIENT_ID_CONFIG,
                "shop-traffic",
                ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
                true,
                ProducerConfig.ACKS_CONFIG,
                "all",
                ProducerConfig.LINGER_MS_CONFIG,
                1,
                ProducerConfig.MAX_BLOCK_MS_CONFIG,
                5_000),
            new StringSerializer(),
            new ByteArraySerializer()),
        options,
        seed,
        clock);
  }

  ShopTraffic(
      Producer<String, byte[]> producer, LocalOptions.Traffic options, long seed, Clock clock) {
    this.producer = producer;
    this.options = options;
    this.clock = clock;
    this.random = new SplittableRandom(seed);
    this.arrivals = new ArrivalProcess(random.split(), options.ordersPerSecond());
    this.start = clock.instant();
    // The seed repeats the traffic, but order ids are unique per run.
    this.run = Long.toString(start.toEpochMilli(), Character.MAX_RADIX);
    this.nextOrderAt = start.plus(arrivals.next());
  }

  void start() {
    schedule = thread.scheduleAtFixedRate(this::tick, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Sends due events; an exception must not end the schedule. */
  private void tick() {
    try {
      sendDueEvents(clock.instant());
    } catch (RuntimeException e) {
      log.warn("Cannot send an event of the shop; continuing with the next one", e);
    }
  }

  /** Generates the scripts of orders that arrived until {@code now} and sends all due events. */
  void sendDueEvents(Instant now) {
    Duration behind = Duration.between(nextOrderAt, now);
    if (behind.compareTo(MAX_CATCH_UP) > 0) {
      start = start.plus(behind);
      nextOrderAt = now;
    }
    while (!nextOrderAt.isAfter(now)) {
      orders++;
      unsentEvents.addAll(
          OrderScript.generate(random.split(), options, run + "-" + orders, nextOrderAt).events());
      nextOrderAt = start.plus(arrivals.next());
    }
    for (OrderScript.TimedEvent next = unsentEvents.peek();
        next != null && !next.at().isAfter(now);
        next = unsentEvents.peek()) {
      unsentEvents.remove();
      send(next.event());
    }
  }

  /** Sends an event at once. */
  @SuppressWarnings("FutureReturnValueIgnored") // the callback reports failures
  void send(ShopEvent event) {
    producer.send(
        new ProducerRecord<>(Topics.of(event), event.orderId(), json.writeValueAsBytes(event)),
        (metadata, failure) -> {
          if (failure == null) {
            failedSends.set(0);
          } else if (failedSends.getAndIncrement() == 0) {
            log.warn("Cannot send shop events to Kafka: {}", failure.toString());
          }
        });
  }

  /** Returns when Kafka has acknowledged what was sent, or the producer has given it up. */
  void flush() {
    producer.flush();
  }

  /** Stops the schedule at once; records already handed to the producer are still sent. */
  @Override
  public void close() {
    ScheduledFuture<?> running = schedule;
    if (running != null) {
      running.cancel(false);
    }
    thread.shutdown();
    try {
      if (!thread.awaitTermination(10, TimeUnit.SECONDS)) {
        thread.shutdownNow();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    producer.close(Duration.ofSeconds(5));
  }
}
