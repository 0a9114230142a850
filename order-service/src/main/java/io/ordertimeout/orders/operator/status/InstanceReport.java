package io.ordertimeout.orders.operator.status;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What an instance says of itself, every second.
 *
 * @param startedAt when it started
 * @param version its version
 * @param clockOffsetMillis by how much Postgres's clock is ahead of its machine's
 * @param failingSeconds the steps that fail, and for how long they have
 * @param shards the shards that it owns
 * @param parked pending orders of its shards that are parked
 * @param unpublished events of its shards that Kafka has not acknowledged
 * @param dueByMinute orders in its wheels that come due within each of the next sixty minutes
 * @param amountsAsOf when the amounts were summed up; null if they were not yet
 * @param amountsByMinute by currency, what those orders amount to, each minute
 */
public record InstanceReport(
    Instant startedAt,
    String version,
    long clockOffsetMillis,
    Map<String, Long> failingSeconds,
    List<ShardReport> shards,
    long parked,
    long unpublished,
    List<Long> dueByMinute,
    @Nullable Instant amountsAsOf,
    Map<String, List<BigDecimal>> amountsByMinute) {

  /** How many minutes a forecast looks ahead. */
  public static final int MINUTES = 60;

  /**
   * A shard as its owner sees it.
   *
   * @param shard its number
   * @param pending orders in its wheel
   * @param rebuilding whether its wheel is not complete yet
   * @param watermarkLagMillis how long a due order has been held for the payment watermark
   * @param held whether its expiry is held until an operator lifts it
   */
  public record ShardReport(
      int shard, long pending, boolean rebuilding, long watermarkLagMillis, boolean held) {}
}
