package io.ordertimeout.orders.platform.kafka;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.stereotype.Component;

/**
 * Sends records on a thread per topic. Kafka's producer blocks its caller for up to {@code
 * max.block.ms} while the metadata of a topic is missing; here only that topic waits. Thread-safe.
 */
@Component
public class TopicSenders implements DisposableBean {

  private static final Logger log = LoggerFactory.getLogger(TopicSenders.class);

  private final RecoveringProducer producer;
  private final Map<String, Sender> senders = new ConcurrentHashMap<>();

  TopicSenders(RecoveringProducer producer) {
    this.producer = producer;
  }

  /**
   * Sends a record; never blocks and never throws.
   *
   * @return completes on any thread, with the position of the record once Kafka has acknowledged it
   */
  public CompletableFuture<RecordMetadata> send(ProducerRecord<byte[], byte[]> record) {
    CompletableFuture<RecordMetadata> sent = new CompletableFuture<>();
    long submittedNanos = System.nanoTime();
    try {
      Sender sender = sender(record.topic());
      sender.thread.execute(() -> sender.send(record, submittedNanos, sent));
    } catch (RuntimeException | Error e) {
      sent.completeExceptionally(e);
    }
    return sent;
  }

  /** Fetches the metadata of a topic, so that the first record does not have to wait for it. */
  public void prepare(String topic) {
    sender(topic)
        .thread
        .execute(
            () -> {
              try {
                producer.partitionsFor(topic);
              } catch (RuntimeException e) {
                log.debug("The first record will wait for the metadata of {}", topic, e);
              }
            });
  }

  private Sender sender(String topic) {
    return senders.computeIfAbsent(topic, Sender::new);
  }

  @Override
  public void destroy() {
    senders.values().forEach(sender -> sender.thread.shutdownNow());
  }

  private final class Sender {

    private final ExecutorService thread;
    private long blockedUntilNanos;
    private @Nullable Exception blocked;

    Sender(String topic) {
      this.thread =
          Executors.newSingleThreadExecutor(
              task -> {
                Thread created = new Thread(task, "send-" + topic);
                created.setDaemon(true);
                return created;
              });
    }

    // The callback completes the future that the caller has.
    @SuppressWarnings("FutureReturnValueIgnored")
    private void send(
        ProducerRecord<byte[], byte[]> record,
        long submittedNanos,
        CompletableFuture<RecordMetadata> sent) {
      Exception failure = blocked;
      if (failure != null && submittedNanos - blockedUntilNanos < 0) {
        // It was queued behind a record that waited in vain for the topic; it would wait as long.
        sent.completeExceptionally(failure);
        return;
      }
      blocked = null;
      Thread sending = Thread.currentThread();
      try {
        producer.send(
            record,
            (metadata, rejection) -> {
              if (rejection == null) {
                sent.complete(metadata);
                return;
              }
              if (rejection instanceof TimeoutException && Thread.currentThread() == sending) {
                blocked = rejection;
                blockedUntilNanos = System.nanoTime();
              }
              sent.completeExceptionally(rejection);
            });
      } catch (RuntimeException | Error e) {
        sent.completeExceptionally(e);
      }
    }
  }
}
