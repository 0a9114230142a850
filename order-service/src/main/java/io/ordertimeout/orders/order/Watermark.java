package io.ordertimeout.orders.order;

import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * The watermark of payments and closures: a time, and where they ended in Kafka when it was asked
 * after that time. A payment that was appended before the time lies below the ends. So once
 * Postgres's own positions have reached the ends, an order that is still pending and was due by
 * that time has not been paid in time. Immutable.
 *
 * @param time a time of Postgres's clock, read before Kafka was asked
 * @param ends the end of each partition whose payments and closures count
 * @param topicIds the ids of the topics that the ends belong to, by name
 * @param allPartitions whether the payments and closures of all partitions count, or only those of
 *     the shard
 */
public record Watermark(
    Instant time,
    Map<TopicPartition, Long> ends,
    Map<String, Uuid> topicIds,
    boolean allPartitions) {

  /** Whether it and the other one are of the same topics and of as many partitions for a shard. */
  public boolean isLike(Watermark other) {
    return topicIds.equals(other.topicIds) && allPartitions == other.allPartitions;
  }

  /**
   * The watermark of the shards of both, which are alike: the earlier time, after which all of
   * these ends were asked for.
   */
  public Watermark and(Watermark other) {
    Map<TopicPartition, Long> both = new HashMap<>(ends);
    other.ends.forEach((partition, end) -> both.merge(partition, end, Math::max));
    return new Watermark(
        time.isBefore(other.time) ? time : other.time, both, topicIds, allPartitions);
  }
}
