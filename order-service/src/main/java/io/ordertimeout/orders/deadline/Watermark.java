package io.ordertimeout.orders.deadline;

import java.time.Instant;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * What a decision needs to know of the payments and closings that may exist: a time, and where they
 * ended when Kafka was asked after that time. A payment that was appended before the time lies
 * below the ends. So once Postgres's own positions have reached the ends, an order that is still
 * pending and was due by that time has not been paid in time. Immutable.
 *
 * @param time a time of Postgres's clock, read before Kafka was asked
 * @param ends the end of each partition whose payments and closings count
 * @param topicIds the ids of the topics that the ends belong to, by name
 */
public record Watermark(Instant time, Map<TopicPartition, Long> ends, Map<String, Uuid> topicIds) {}
