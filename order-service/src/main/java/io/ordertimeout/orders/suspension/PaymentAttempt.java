package io.ordertimeout.orders.suspension;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An event of a payment attempt: it starts, or goes on, or ends.
 *
 * @param orderId the order's id, 1 to 128 characters
 * @param shard the partition that the event was read from
 * @param recordedAt the record's timestamp
 * @param attemptId the attempt's id; empty if the shop does not tell attempts apart
 * @param until until when it is under way unless it ends before; null if it ends. An end without an
 *     id ends all attempts of the order
 */
public record PaymentAttempt(
    String orderId, int shard, Instant recordedAt, String attemptId, @Nullable Instant until) {

  /** Whether it ends. */
  public boolean isEnd() {
    return until == null;
  }
}
