package io.ordertimeout.orders.intake;

import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/** The next record of a partition cannot be read: its batch is corrupt. */
final class UnreadablePartitionException extends KafkaException {

  private static final long serialVersionUID = 1L;

  private final transient TopicPartition partition;

  UnreadablePartitionException(TopicPartition partition, KafkaException cause) {
    super("the next record of " + partition + " cannot be read", cause);
    this.partition = partition;
  }

  /** The only partition that is affected. */
  TopicPartition partition() {
    return partition;
  }
}
