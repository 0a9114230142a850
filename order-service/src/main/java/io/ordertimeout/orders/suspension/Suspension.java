package io.ordertimeout.orders.suspension;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * While it is in force, none of the orders that it concerns is cancelled. One that concerns a shard
 * is a hold; any other is a pause.
 *
 * @param channel the channel whose orders it concerns; null if that does not matter
 * @param shard the shard whose orders it concerns; null if that does not matter
 * @param placedBy the name of who placed it
 * @param movesDeadlines whether deadlines move by the part of it during which the orders were open
 * @param endsAt when it ends by itself; null for never
 * @param endedAt when it was ended; null if it was not
 * @param endedBy the name of who ended it
 */
public record Suspension(
    long id,
    @Nullable String channel,
    @Nullable Integer shard,
    PlacedBy placedByKind,
    String placedBy,
    String reason,
    boolean movesDeadlines,
    Instant beganAt,
    @Nullable Instant endsAt,
    @Nullable Instant endedAt,
    @Nullable String endedBy) {

  /** Who placed it. */
  public enum PlacedBy {
    /** An operator. */
    OPERATOR,
    /** The circuit breaker, because an abnormal number of orders was about to be cancelled. */
    BREAKER,
    /** The service, because records were lost that may have settled orders. */
    SERVICE
  }

  /** Which orders it concerns. */
  public enum Scope {
    /** All orders. */
    ALL,
    /** Those of a channel. */
    CHANNEL,
    /** Those of a shard. */
    SHARD
  }

  /** Which orders it concerns. */
  public Scope scope() {
    if (shard != null) {
      return Scope.SHARD;
    }
    return channel == null ? Scope.ALL : Scope.CHANNEL;
  }

  /** Whether it is a pause; else it is a hold. */
  public boolean isPause() {
    return scope() != Scope.SHARD;
  }

  /** Whether it is the same one, perhaps ended since: a lost number may be given to another one. */
  boolean isSameAs(Suspension other) {
    return id == other.id && beganAt.equals(other.beganAt);
  }
}
