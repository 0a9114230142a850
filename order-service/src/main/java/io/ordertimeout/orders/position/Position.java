package io.ordertimeout.orders.position;

/**
 * A position in a partition.
 *
 * @param topicId the id of the topic that the offset belongs to
 * @param nextOffset the offset below which Postgres reflects everything
 */
public record Position(String topicId, long nextOffset) {}
