package io.ordertimeout.orders.readback;

import java.util.Collection;
import java.util.Map;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/** Partitions of the output topics could not be read up to their ends. */
final class UnreadPartitionsException extends KafkaException {

  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param failures why they could not be read; a partition without one has no leader, or none of
   *     its records arrived
   */
  UnreadPartitionsException(
      Collection<TopicPartition> partitions, Map<TopicPartition, Throwable> failures) {
    super("the published events in " + partitions + " could not be read");
    failures.values().forEach(this::addSuppressed);
  }
}
