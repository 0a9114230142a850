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
 * its delivery timeout, whatever the broker accepts by then. A producer that was rejected, or that
 * delivered nothing while a record timed out, is therefore replaced before the next use.
 *
 * <p>Kafka's producer is created at the first use, and closed with its factory. Thread-safe.
 */
@Component
public class RecoveringProducer {

  private static final Logger log = LoggerFactory.getLogger(RecoveringProducer.class);

  private final ProducerFactory<byte[], byte[]> factory;
  private @Nullable Instance instance;

  /** One of Kafka's producers. */
  private static final class Instance {

    private final Producer<byte[], byte[]> producer;
    private volatile long acknowledgedNanos;
    private volatile boolean acknowledged;
    private volatile @Nullable Throwable fatal;

    Instance(Producer<byte[], byte[]> producer) {
      this.producer = producer;
    }

    void acknowledged() {
      acknowledgedNanos = System.nanoTime();
      acknowledged = true;
    }

    boolean hasAcknowledgedSince(long nanos) {
      return acknowledged && acknowledgedNanos - nanos > 0;
    }
  }

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
    Instance current = current();
    Thread sending = Thread.currentThread();
    long sentNanos = System.nanoTime();
    return current.producer.send(
        record,
        (metadata, failure) -> {
          if (failure == null) {
            current.acknowledged();
          } else if (failure instanceof AuthenticationException) {
            current.fatal = failure;
          } else if (failure instanceof TimeoutException
              // Otherwise it waited for the metadata of its topic, before it needed a producer id.
              && Thread.currentThread() != sending
              // Otherwise the producer works, and only the record's partition does not.
              && !current.hasAcknowledgedSince(sentNanos)) {
            current.fatal = failure;
          }
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
    Instance current = current();
    try {
      return current.producer.partitionsFor(topic);
    } catch (AuthenticationException e) {
      current.fatal = e;
      throw e;
    }
  }

  private synchronized Instance current() {
    Instance current = instance;
    Throwable fatal = current == null ? null : current.fatal;
    if (fatal != null) {
      log.warn("Recreating the Kafka producer after a fatal error: {}", fatal.toString());
      // Not in the callback: that runs on the producer's own thread, which would wait for itself.
      instance = null;
      factory.reset();
      current = null;
    }
    if (current == null) {
      current = new Instance(factory.createProducer());
      instance = current;
    }
    return current;
  }
}
