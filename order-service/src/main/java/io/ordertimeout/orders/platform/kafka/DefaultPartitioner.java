package io.ordertimeout.orders.platform.kafka;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;

/**
 * Where the default partitioner of Kafka's Java client puts the records of an order, which is how
 * this service publishes. Thread-safe.
 */
public final class DefaultPartitioner {

  private DefaultPartitioner() {}

  /** Returns the partition of an order's records in a topic with that many partitions. */
  public static int partition(String orderId, int partitions) {
    return partition(orderId.getBytes(StandardCharsets.UTF_8), partitions);
  }

  /** Returns the partition of records with that key in a topic with that many partitions. */
  static int partition(byte[] key, int partitions) {
    return BuiltInPartitioner.partitionForKey(key, partitions);
  }
}
