package io.ordertimeout.orders.operator.status;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The status that an instance reports of itself every second.
 *
 * @param startedAt when it started
 * @param version its version
 * @param clockOffsetMillis by how much Postgres's clock is ahead of its machine's
 * @param failingSeconds the failing steps, and for how long they have been failing
 * @param shards the shards that it owns
 * @param parked pending orders of its shards that are parked
 * @param unpublished events of its shards that Kafka has not acknowledged yet
 * @param dueByMinute orders in its wheels that come due within each of the next sixty minutes
 * @param amountsAsOf when the amounts were summed up; null if that has not happened yet
 * @param amountsByMinute the amounts of those orders, by currency and minute
 * @param dueByChannel number and amounts of those orders by sales channel, as of the same time
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
    Map<String, List<BigDecimal>> amountsByMinute,
    List<ChannelReport> dueByChannel) {

  /** The windows of a forecast, in minutes. A window includes all shorter ones. */
  static final List<Integer> WINDOWS = List.of(1, 5, 15, 60);

  /** The number of minutes that a forecast covers. */
  public static final int MINUTES = 60;

  /**
   * The status of a shard, as its owner reports it.
   *
   * @param shard its number
   * @param pending orders in its wheel
   * @param rebuilding whether its wheel is not complete yet
   * @param watermarkLagMillis how long a due order has been held for the payment watermark
   * @param held whether its expiry is held until an operator lifts it
   */
  public record ShardReport(
      int shard, long pending, boolean rebuilding, long watermarkLagMillis, boolean held) {}

  /**
   * Orders of one channel that come due within the windows of a forecast.
   *
   * @param held whether these are the orders of held shards, whatever their channels
   * @param channel the channel; null if the orders state none
   * @param orders how many they are, by window
   * @param amounts their amounts by currency and window
   */
  public record ChannelReport(
      boolean held,
      @Nullable String channel,
      List<Long> orders,
      Map<String, List<BigDecimal>> amounts) {}

  /** Creates a report; one of an earlier version has no channels. */
  public InstanceReport {
    dueByChannel = Objects.requireNonNullElse(dueByChannel, List.of());
  }
}
