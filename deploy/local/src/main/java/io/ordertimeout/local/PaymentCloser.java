package io.ordertimeout.local;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a shop adds to be asked before an order is cancelled: a consumer of warnings that closes the
 * payment at its provider, and then answers that nothing can be paid any more. The provider of the
 * demo always succeeds.
 */
final class PaymentCloser implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(PaymentCloser.class);

  private final ShopTraffic shop;
  private final Consumer<String, byte[]> consumer;
  private final JsonMapper json = JsonMapper.shared();
  private final Thread thread = new Thread(this::run, "payment-closer");

  PaymentCloser(String bootstrapServers, ShopTraffic shop) {
    this.shop = shop;
    this.consumer =
        new KafkaConsumer<>(
            Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers,
                ConsumerConfig.CLIENT_ID_CONFIG, "payment-closer",
                ConsumerConfig.GROUP_ID_CONFIG, "payment-closer",
                ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest",
                ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false),
            new StringDeserializer(),
            new ByteArrayDeserializer());
  }

  void start() {
    thread.start();
  }

  private void run() {
    try (consumer) {
      consumer.subscribe(List.of(Topics.EXPIRING));
      while (true) {
        List<ShopEvent> answers = new ArrayList<>();
        for (ConsumerRecord<String, byte[]> warning : consumer.poll(Duration.ofMillis(500))) {
          if (asks(warning)) {
            answers.add(ShopEvent.Attempt.allEnded(warning.key()));
          }
        }
        // An answer may be repeated, so Kafka has it before the position moves. If Kafka does not
        // take it, that is logged, and the order is parked.
        answers.forEach(shop::send);
        shop.flush();
        consumer.commitSync();
      }
    } catch (WakeupException e) {
      // close() was called.
    } catch (KafkaException e) {
      log.error("Warnings are not read any more; their orders are parked", e);
    }
  }

  private boolean asks(ConsumerRecord<String, byte[]> warning) {
    try {
      return json.readTree(warning.value()).has("confirmBy");
    } catch (JacksonException e) {
      log.error("Cannot read the warning of order {}: {}", warning.key(), e.getMessage());
      return false;
    }
  }

  @Override
  public void close() {
    consumer.wakeup();
    try {
      thread.join(TimeUnit.SECONDS.toMillis(10));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
