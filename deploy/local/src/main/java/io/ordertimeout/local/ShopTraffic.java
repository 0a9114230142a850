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

/** Plays the traffic of a shop: writes a script for every order that comes in, and sends it. */
final class ShopTraffic implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ShopTraffic.class);

  private static final long TICK_MILLIS = 5;

  /** Orders that a longer pause of this process held back never come, instead of all at once. */
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

  private final LocalOptions.Traffic options;
  private final Clock clock;
  private final Producer<String, byte[]> producer;
  private final JsonMapper json = JsonMapper.shared();
  private final SplittableRandom random;
  private final Arrivals arrivals;
  private final PriorityQueue<OrderScript.Line> agenda =
      new PriorityQueue<>(Comparator.comparing(OrderScript.Line::at));
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, "shop-traffic"));
  private final AtomicLong unsent = new AtomicLong();
  private final String run;

  private Instant start;
  private Instant nextOrderAt;
  private long orders;
  private @Nullable ScheduledFuture<?> schedule;

  /** A traffic that sends to the broker, without a thread until it is started. */
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
    this.arrivals = new Arrivals(random.split(), options.ordersPerSecond());
    this.start = clock.instant();
    // The seed repeats the traffic, but never an order id.
    this.run = Long.toString(start.toEpochMilli(), Character.MAX_RADIX);
    this.nextOrderAt = start.plus(arrivals.next());
  }

  void start() {
    schedule = thread.scheduleAtFixedRate(this::tick, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Sends what is due, and goes on whatever happens. */
  private void tick() {
    try {
      play(clock.instant());
    } catch (RuntimeException e) {
      log.warn("The shop's traffic could not send an event, and goes on with the next", e);
    }
  }

  /** Writes the scripts of the orders that came in up to now and sends the events that are due. */
  void play(Instant now) {
    Duration behind = Duration.between(nextOrderAt, now);
    if (behind.compareTo(LONGEST_PAUSE) > 0) {
      start = start.plus(behind);
      nextOrderAt = now;
    }
    while (!nextOrderAt.isAfter(now)) {
      orders++;
      agenda.addAll(
          OrderScript.write(random.split(), options, run + "-" + orders, nextOrderAt).lines());
      nextOrderAt = start.plus(arrivals.next());
    }
    for (OrderScript.Line line = agenda.peek();
        line != null && !line.at().isAfter(now);
        line = agenda.peek()) {
      agenda.remove();
      send(line.event());
    }
  }

  @SuppressWarnings("FutureReturnValueIgnored") // the callback hears of it
  private void send(ShopEvent event) {
    producer.send(
        new ProducerRecord<>(Topics.of(event), event.orderId(), json.writeValueAsBytes(event)),
        (metadata, failure) -> {
          if (failure == null) {
            unsent.set(0);
          } else if (unsent.getAndIncrement() == 0) {
            log.warn("Kafka does not take the shop's events: {}", failure.toString());
          }
        });
  }

  /** Stops at once; what is handed to the producer is still sent. */
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
