package io.ordertimeout.orders.benchmarks.traffic;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;

/** Publishes what a shop's customers do, and informs the judge. Not thread-safe. */
public final class Customers implements AutoCloseable {

  private final Shop shop;
  private final Judge judge;
  private final KafkaProducer<String, byte[]> producer;
  private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();

  Customers(Shop shop, Judge judge) {
    this.shop = shop;
    this.judge = judge;
    this.producer =
        new KafkaProducer<>(
            Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, shop.servers().bootstrapServers(),
                ProducerConfig.ACKS_CONFIG, "all",
                ProducerConfig.LINGER_MS_CONFIG, "5",
                ProducerConfig.BATCH_SIZE_CONFIG, "131072"),
            new StringSerializer(),
            new ByteArraySerializer());
  }

  /** Creates the next order; returns its number. */
  public long create(long deadlineMillis) {
    long number = judge.created(deadlineMillis);
    String id = OrderIds.of(number);
    String event =
        "{\"orderId\":\"%s\",\"payBy\":\"%s\",\"channel\":\"web\",\"amount\":{\"value\":\"59.90\",\"currency\":\"EUR\"}}"
            .formatted(id, Instant.ofEpochMilli(deadlineMillis));
    send(shop.created(), id, event, stored -> {});
    return number;
  }

  /** Pays an order. */
  public void pay(long number) {
    String id = OrderIds.of(number);
    judge.paying(number);
    send(
        shop.paid(),
        id,
        "{\"orderId\":\"%s\",\"paymentId\":\"p-%s\"}".formatted(id, id),
        stored -> judge.paid(number, stored.timestamp()));
  }

  // The callback reports every failure.
  @SuppressWarnings("FutureReturnValueIgnored")
  private void send(String topic, String id, String event, Consumer<RecordMetadata> whenStored) {
    producer.send(
        new ProducerRecord<>(topic, id, event.getBytes(StandardCharsets.UTF_8)),
        (stored, e) -> {
          if (e == null) {
            whenStored.accept(stored);
          } else {
            failure.compareAndSet(null, e);
          }
        });
  }

  /**
   * Returns when Kafka has stored everything.
   *
   * @throws IllegalStateException if it has not
   */
  public void flush() {
    producer.flush();
    if (failure.get() != null) {
      throw new IllegalStateException("An event was not stored", failure.get());
    }
  }

  @Override
  public void close() {
    producer.close();
  }
}
