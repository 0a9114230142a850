package io.ordertimeout.it.support;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import tools.jackson.databind.json.JsonMapper;

/** The shop that publishes the events the service reads. Thread-safe. */
public final class Shop implements AutoCloseable {

  private static final long PATIENCE_SECONDS = 120;

  private final TopicNames topics;
  private final Producer<byte[], byte[]> producer;

  private Shop(TopicNames topics, Producer<byte[], byte[]> producer) {
    this.topics = topics;
    this.producer = producer;
  }

  public static Shop open(TestEnvironment environment, TopicNames topics) {
    return new Shop(topics, producer(environment, Map.of()));
  }

  /** A shop that publishes within transactions only. */
  public static Shop transactional(
      TestEnvironment environment, TopicNames topics, String id, Duration timeout) {
    Shop shop =
        new Shop(
            topics,
            producer(
                environment,
                Map.of(
                    ProducerConfig.TRANSACTIONAL_ID_CONFIG,
                    id,
                    ProducerConfig.TRANSACTION_TIMEOUT_CONFIG,
                    (int) timeout.toMillis())));
    try {
      shop.producer.initTransactions();
    } catch (KafkaException e) {
      shop.close();
      throw e;
    }
    return shop;
  }

  /** A shop that waits for Kafka without limit. */
  public static Shop patient(TestEnvironment environment, TopicNames topics) {
    return new Shop(
        topics,
        producer(
            environment,
            Map.of(
                ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
                600_000,
                ProducerConfig.MAX_BLOCK_MS_CONFIG,
                600_000L,
                ProducerConfig.LINGER_MS_CONFIG,
                1)));
  }

  /** A shop that compresses its records. */
  public static Shop compressing(TestEnvironment environment, TopicNames topics, String codec) {
    return new Shop(
        topics, producer(environment, Map.of(ProducerConfig.COMPRESSION_TYPE_CONFIG, codec)));
  }

  private static Producer<byte[], byte[]> producer(
      TestEnvironment environment, Map<String, Object> more) {
    Map<String, Object> settings = new LinkedHashMap<>(more);
    settings.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, environment.bootstrapServers());
    settings.put(ProducerConfig.ACKS_CONFIG, "all");
    // The topics are new: a broker that does not lead a partition yet may reject the first batch
    // and
    // accept the second, which blocks an idempotent producer that has several in flight.
    settings.put(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 1);
    return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
  }

  /** The transactions of a transactional shop. */
  public Producer<?, ?> transactions() {
    return producer;
  }

  /** Returns when the event is in Kafka. */
  public RecordMetadata created(String orderId, Map<String, ?> fields) {
    return await(send(topics.created(), orderId, fields));
  }

  /** Returns when the event is in Kafka. */
  public RecordMetadata paid(String orderId, String paymentId) {
    return paid(orderId, Map.of("paymentId", paymentId));
  }

  /** Returns when the event is in Kafka. */
  public RecordMetadata paid(String orderId, Map<String, ?> fields) {
    return await(send(topics.paid(), orderId, fields));
  }

  /** Returns when the event is in Kafka. */
  public RecordMetadata closed(String orderId) {
    return await(send(topics.closed(), orderId, Map.of("reason", "CUSTOMER")));
  }

  /** Returns when the event of a payment attempt is in Kafka. */
  public RecordMetadata attempt(String orderId, Map<String, ?> fields) {
    return await(send(topics.attempts(), orderId, fields));
  }

  /** Returns when the change is in Kafka. */
  public RecordMetadata changed(String orderId, Map<String, ?> fields) {
    return await(send(topics.changed(), orderId, fields));
  }

  /** An event with its order id and those fields, keyed by order id. */
  public CompletableFuture<RecordMetadata> send(
      String topic, String orderId, Map<String, ?> fields) {
    Map<String, Object> event = new LinkedHashMap<>();
    event.put("orderId", orderId);
    event.putAll(fields);
    return send(new ProducerRecord<>(topic, utf8(orderId), json(event)));
  }

  // The callback completes the future that is returned.
  @SuppressWarnings("FutureReturnValueIgnored")
  public CompletableFuture<RecordMetadata> send(ProducerRecord<byte[], byte[]> record) {
    CompletableFuture<RecordMetadata> sent = new CompletableFuture<>();
    producer.send(
        record,
        (metadata, failure) -> {
          if (failure == null) {
            sent.complete(metadata);
          } else {
            sent.completeExceptionally(failure);
          }
        });
    return sent;
  }

  public static RecordMetadata await(CompletableFuture<RecordMetadata> sent) {
    try {
      return sent.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException("the event did not reach Kafka", e);
    }
  }

  public static byte[] json(Map<String, ?> event) {
    return JsonMapper.shared().writeValueAsBytes(event);
  }

  public static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Ends as a crash does: a transaction stays open, for Kafka to abort it after its time-out. */
  public void die() {
    producer.close(Duration.ZERO);
  }

  @Override
  public void close() {
    producer.close(Duration.ofSeconds(PATIENCE_SECONDS));
  }
}
