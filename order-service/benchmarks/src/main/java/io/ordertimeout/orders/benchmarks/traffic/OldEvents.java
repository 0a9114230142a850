package io.ordertimeout.orders.benchmarks.traffic;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Fills a shop's topics with events of the past, as they are when the service starts for the first
 * time. The records carry the times of their events. Not thread-safe.
 */
public final class OldEvents implements AutoCloseable {

  private static final Duration TIMEOUT = Duration.ofMinutes(15);

  private final Shop shop;
  private final KafkaProducer<String, byte[]> producer;
  private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();

  /** Has Kafka keep the records of the shop's topics and their times. */
  public OldEvents(Shop shop) {
    this.shop = shop;
    shop.keepProducersTimes();
    this.producer =
        new KafkaProducer<>(
            Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, shop.servers().bootstrapServers(),
                ProducerConfig.ACKS_CONFIG, "all",
                // The topics are new: a broker may reject the first batch of several in flight.
                ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, "1",
                ProducerConfig.LINGER_MS_CONFIG, "20",
                ProducerConfig.BATCH_SIZE_CONFIG, "131072"),
            new StringSerializer(),
            new ByteArraySerializer());
  }

  /** Creates an order at a time. */
  public void create(long number, Instant at) {
    String id = OrderIds.of(number);
    send(
        shop.created(),
        id,
        at,
        "{\"orderId\":\"%s\",\"payBy\":\"%s\",\"channel\":\"web\",\"amount\":{\"value\":\"59.90\",\"currency\":\"EUR\"}}"
            .formatted(id, at.plus(TIMEOUT)));
  }

  /** Pays an order at a time. */
  public void pay(long number, Instant at) {
    String id = OrderIds.of(number);
    send(shop.paid(), id, at, "{\"orderId\":\"%s\",\"paymentId\":\"p-%s\"}".formatted(id, id));
  }

  // The callback reports every failure.
  @SuppressWarnings("FutureReturnValueIgnored")
  private void send(String topic, String id, Instant at, String event) {
    producer.send(
        new ProducerRecord<>(
            topic, null, at.toEpochMilli(), id, event.getBytes(StandardCharsets.UTF_8)),
        (stored, e) -> {
          if (e != null) {
            failure.compareAndSet(null, e);
          }
        });
  }

  /**
   * Returns when Kafka has stored everything.
   *
   * @throws IllegalStateException if it has not
   */
  @Override
  public void close() {
    producer.close();
    if (failure.get() != null) {
      throw new IllegalStateException("An event was not stored", failure.get());
    }
  }
}
