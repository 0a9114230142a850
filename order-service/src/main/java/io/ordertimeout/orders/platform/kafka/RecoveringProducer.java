package io.ordertimeout.orders.platform.kafka;

import java.util.List;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.stereotype.Component;

/**
 * The producer of everything that the service publishes. It recreates Kafka's producer after a
 * fatal error.
 *
 * <p>An idempotent producer whose request for a producer id is rejected, for example because the
 * broker does not know the password yet, never repeats that request: every record then waits for
 * its delivery timeout, whatever the broker accepts by then. A producer that was rejected or timed
 * out is therefore replaced before the next use.
 *
 * <p>Kafka's producer is created at the first use, and closed with its factory. Thread-safe.
 */
@Component
public class RecoveringProducer {

  private static final Logger log = LoggerFactory.getLogger(RecoveringProducer.class);

  private final ProducerFactory<byte[], byte[]> factory;
  private @Nullable Producer<byte[], byte[]> producer;
  private @Nullable Throwable fatal;

  @SuppressWarnings("unchecked")
  RecoveringProducer(ProducerFactory<?, ?> factory) {
    this.factory = (ProducerFactory<byte[], byte[]>) factory;
  }

  /**
   * Sends a record.
   *
   * @see Producer#send(ProducerRecord, Callback)
   */
  public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record, Callback callback) {
    Producer<byte[], byte[]> current = current();
    return current.send(
        record,
        (metadata, failure) -> {
          check(current, failure);
          callback.onCompletion(metadata, failure);
        });
  }

  /** Sends a record. */
  public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record) {
    return send(record, (metadata, failure) -> {});
  }

  /**
   * Returns the partitions of a topic; waits for them if they are not known yet.
   *
   * @see Producer#partitionsFor(String)
   */
  public List<PartitionInfo> partitionsFor(String topic) {
    Producer<byte[], byte[]> current = current();
    try {
      return current.partitionsFor(topic);
    } catch (RuntimeException e) {
      check(current, e);
      throw e;
    }
  }

  private synchronized Producer<byte[], byte[]> current() {
    if (fatal != null) {
      log.warn("Recreating the Kafka producer after a fatal error: {}", fatal.toString());
      // Not in the callback: that runs on the producer's own thread, which would wait for itself.
      factory.reset();
      producer = null;
      fatal = null;
    }
    if (producer == null) {
      producer = factory.createProducer();
    }
    return producer;
  }

  private void check(Producer<byte[], byte[]> failed, @Nullable Throwable failure) {
    if (failure instanceof AuthenticationException || failure instanceof TimeoutException) {
      synchronized (this) {
        if (producer == failed) {
          fatal = failure;
        }
      }
    }
  }
}
