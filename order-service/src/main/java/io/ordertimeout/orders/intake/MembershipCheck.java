package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.intake.GroupDirectory.Group;
import io.ordertimeout.orders.intake.GroupMembership.Claim;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Compares what one consumer believes about its membership with what the group's coordinator knows.
 * During a rebalance the two differ for a moment, so only a lasting difference counts. Confined to
 * one thread.
 */
final class MembershipCheck {

  /** How long a consumer that keeps polling may differ from its group. */
  static final Duration TOLERANCE = Duration.ofSeconds(5);

  /** How long a consumer that does not poll may differ from its group. */
  static final Duration TOLERANCE_WITHOUT_POLLS = Duration.ofSeconds(30);

  /** The result of a comparison. */
  enum Result {
    /** The consumer has not joined, or its claim has changed meanwhile. */
    UNDECIDED,
    /** The group has assigned everything that the consumer claims. */
    CONFIRMED,
    /** The group has not, for the moment. */
    DENIED,
    /** The group has not for so long that the consumer has to be replaced. */
    STALE
  }

  /** A claim that the group denies, since when, and the number of polls then. */
  private record Denial(Claim claim, long sinceNanos, long polls) {}

  private final GroupMembership membership;
  private final LongSupplier nanoTime;
  private @Nullable Denial denial;

  MembershipCheck(GroupMembership membership, LongSupplier nanoTime) {
    this.membership = membership;
    this.nanoTime = nanoTime;
  }

  /**
   * Compares a claim with the group.
   *
   * @param claim the consumer's claim before the group was described
   */
  Result compare(@Nullable Claim claim, Group group) {
    if (claim == null || group.isRebalancing() || !claim.equals(membership.claim())) {
      denial = null;
      return Result.UNDECIDED;
    }
    Set<TopicPartition> assigned = group.assignments().get(claim.memberId());
    if (assigned != null && assigned.containsAll(claim.assigned())) {
      denial = null;
      membership.confirmed();
      return Result.CONFIRMED;
    }
    long now = nanoTime.getAsLong();
    Denial earlier = denial;
    if (earlier == null || !earlier.claim.equals(claim)) {
      denial = new Denial(claim, now, membership.polls());
      return Result.DENIED;
    }
    boolean polls = membership.polls() - earlier.polls > 1;
    Duration tolerance = polls ? TOLERANCE : TOLERANCE_WITHOUT_POLLS;
    return now - earlier.sinceNanos >= tolerance.toNanos() ? Result.STALE : Result.DENIED;
  }

  /** The partitions that a consumer claims although the group has not assigned them to it. */
  static Set<Integer> denied(Claim claim, Group group) {
    Set<TopicPartition> unassigned = new HashSet<>(claim.assigned());
    unassigned.removeAll(group.assignments().getOrDefault(claim.memberId(), Set.of()));
    return unassigned.stream().map(TopicPartition::partition).collect(Collectors.toSet());
  }
}
