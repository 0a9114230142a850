package io.ordertimeout.orders.operator;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A reason why a pending order is not decided yet. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
  @JsonSubTypes.Type(value = OrderBlocker.PaymentDeadline.class, name = "payment-deadline"),
  @JsonSubTypes.Type(value = OrderBlocker.Parked.class, name = "parked"),
  @JsonSubTypes.Type(value = OrderBlocker.Paused.class, name = "paused"),
  @JsonSubTypes.Type(value = OrderBlocker.Held.class, name = "held"),
  @JsonSubTypes.Type(value = OrderBlocker.UnownedShard.class, name = "unowned-shard"),
  @JsonSubTypes.Type(value = OrderBlocker.Watermark.class, name = "watermark"),
  @JsonSubTypes.Type(value = OrderBlocker.PaymentUnderWay.class, name = "payment-under-way"),
  @JsonSubTypes.Type(value = OrderBlocker.Confirmation.class, name = "confirmation")
})
@JsonInclude(JsonInclude.Include.NON_NULL)
public sealed interface OrderBlocker {

  /**
   * The payment deadline, or the grace after it, has not passed yet.
   *
   * @param dueAt when the order is due: its payment deadline plus the grace of its policy and the
   *     settlement grace
   */
  record PaymentDeadline(Instant dueAt) implements OrderBlocker {}

  /**
   * The order is parked until an operator releases it.
   *
   * @param reason why the order must not be cancelled
   * @param parkedAt since when
   */
  record Parked(String reason, Instant parkedAt) implements OrderBlocker {}

  /**
   * A pause of expiry holds the order.
   *
   * @param pauseId the number of the pause
   * @param channel the channel that is paused; null for all channels
   * @param placedBy the name of who placed the pause
   * @param reason why
   * @param endsAt when the pause ends by itself; null for never
   */
  record Paused(
      long pauseId,
      @Nullable String channel,
      String placedBy,
      String reason,
      @Nullable Instant endsAt)
      implements OrderBlocker {}

  /**
   * The expiry of the order's shard is held until an operator lifts the hold.
   *
   * @param holdId the number of the hold
   * @param shard the shard
   * @param detail what happened
   */
  record Held(long holdId, int shard, String detail) implements OrderBlocker {}

  /**
   * No instance owns the order's shard.
   *
   * @param shard the shard
   */
  record UnownedShard(int shard) implements OrderBlocker {}

  /**
   * The payment watermark of the order's shard has not passed its deadline yet.
   *
   * @param shard the shard
   * @param instance the instance that owns the shard
   */
  record Watermark(int shard, String instance) implements OrderBlocker {}

  /**
   * A payment of the order is under way.
   *
   * @param attemptId the id of the payment attempt; null if the shop does not tell attempts apart
   * @param until until when it keeps the order from being cancelled, unless it ends before
   */
  record PaymentUnderWay(@Nullable String attemptId, Instant until) implements OrderBlocker {}

  /**
   * The shop has not confirmed yet that nothing can be paid any more.
   *
   * @param until until when the order waits for it
   */
  record Confirmation(Instant until) implements OrderBlocker {}
}
