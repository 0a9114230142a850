package io.ordertimeout.it.support;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/** All events that the service publishes in one scenario, from the beginning. Thread-safe. */
public final class Outcomes implements AutoCloseable {

  private final TopicNames topics;
  private final Consumer<byte[], byte @Nullable []> consumer;
  private final Map<String, Queue<PublishedEvent>> events = new ConcurrentHashMap<>();
  private final Map<TopicPartition, Long> positions = new ConcurrentHashMap<>();
  private final Thread thread = new Thread(this::run, "outcomes");
  private volatile boolean closed;

  private Outcomes(TestEnvironment environment, TopicNames topics) {
    this.topics = topics;
    this.consumer =
        new KafkaConsumer<>(
            Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
                environment.bootstrapServers(),
                ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG,
                false,
                ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
                "earliest"),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer());
  }

  public static Outcomes watch(
      TestEnvironment environment, TopicNames topics, Collection<TopicPartition> all) {
    Outcomes outcomes = new Outcomes(environment, topics);
    outcomes.consumer.assign(all);
    outcomes.consumer.seekToBeginning(all);
    // A consumer without partitions must not poll.
    if (!all.isEmpty()) {
      outcomes.thread.start();
    }
    return outcomes;
  }

  private void run() {
    try (consumer) {
      while (!closed) {
        consumer
            .poll(Duration.ofMillis(500))
            .forEach(record -> of(record.topic()).add(new PublishedEvent(record)));
        consumer.assignment().forEach(this::notePosition);
      }
    } catch (WakeupException e) {
      // closed
    }
  }

  /**
   * The consumer's own position also passes records that were deleted before it could read them.
   */
  private void notePosition(TopicPartition partition) {
    try {
      positions.put(partition, consumer.position(partition, Duration.ZERO));
    } catch (TimeoutException e) {
      // not known yet
    }
  }

  private Queue<PublishedEvent> of(String topic) {
    return events.computeIfAbsent(topic, name -> new ConcurrentLinkedQueue<>());
  }

  public List<PublishedEvent> cancelled() {
    return List.copyOf(of(topics.cancelled()));
  }

  public List<PublishedEvent> cancelled(String orderId) {
    return cancelled().stream().filter(event -> event.key().equals(orderId)).toList();
  }

  public List<PublishedEvent> conflicts() {
    return List.copyOf(of(topics.conflict()));
  }

  public List<PublishedEvent> conflicts(String orderId) {
    return conflicts().stream().filter(event -> event.key().equals(orderId)).toList();
  }

  /** The warnings of the order. */
  public List<PublishedEvent> warnings(String orderId) {
    return of(topics.expiring()).stream().filter(event -> event.key().equals(orderId)).toList();
  }

  /** Waits for as many warnings of the order. */
  public List<PublishedEvent> awaitWarnings(String orderId, int count) {
    return await("warnings of " + orderId)
        .until(() -> warnings(orderId), events -> events.size() >= count);
  }

  public List<PublishedEvent> deadLetters(String input) {
    return List.copyOf(of(TopicNames.deadLetters(input)));
  }

  public List<PublishedEvent> deadLetters() {
    List<PublishedEvent> all = new ArrayList<>();
    topics.inputs().forEach(input -> all.addAll(deadLetters(input)));
    return all;
  }

  /** Waits for the first cancellation of the order. */
  public PublishedEvent awaitCancelled(String orderId) {
    return Objects.requireNonNull(
        await("cancellation of " + orderId)
            .until(() -> cancelled(orderId), events -> !events.isEmpty())
            .get(0));
  }

  /** Waits for as many conflicts of the order. */
  public List<PublishedEvent> awaitConflicts(String orderId, int count) {
    return await("conflicts of " + orderId)
        .until(() -> conflicts(orderId), events -> events.size() >= count);
  }

  /** Whether everything below those offsets was read. */
  public boolean hasRead(Map<TopicPartition, Long> ends) {
    return ends.entrySet().stream()
        .allMatch(end -> positions.getOrDefault(end.getKey(), 0L) >= end.getValue());
  }

  @Override
  public void close() {
    closed = true;
    if (!thread.isAlive()) {
      consumer.close();
      return;
    }
    consumer.wakeup();
    try {
      thread.join(10_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
