package io.ordertimeout.orders.intake;

import java.time.Duration;
import java.util.Set;
import java.util.function.LongSupplier;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.CoordinatorLoadInProgressException;
import org.apache.kafka.common.errors.CoordinatorNotAvailableException;
import org.apache.kafka.common.errors.NotCoordinatorException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownServerException;
import org.jspecify.annotations.Nullable;

/**
 * The membership of one consumer in its group, as the consumer itself sees it, and when the group
 * last confirmed it. The consumer's thread writes, any thread reads. Thread-safe.
 */
final class GroupMembership {

  /**
   * What the consumer believes.
   *
   * @param memberId its id in the group
   * @param assigned the partitions that it holds
   */
  record Claim(String memberId, Set<TopicPartition> assigned) {}

  private final LongSupplier nanoTime;
  private volatile @Nullable String groupId;
  private volatile @Nullable Claim claim;
  private volatile long polls;
  private volatile long confirmedAtNanos;

  /** Since when the consumer has been trying to join, over all its replacements; null if it has. */
  private volatile @Nullable Long joiningSinceNanos;

  /** Since when the coordinator has not accepted commits; null if it has. */
  private volatile @Nullable Long commitsFailingSinceNanos;

  GroupMembership(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Records that a consumer was created, which has yet to join the group. */
  void opened(String newGroupId) {
    if (joiningSinceNanos == null || !newGroupId.equals(groupId)) {
      joiningSinceNanos = nanoTime.getAsLong();
    }
    groupId = newGroupId;
  }

  /** Records a poll of a consumer that has received an assignment. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // Only the consumer's thread writes.
  void polled(String memberId, Set<TopicPartition> assigned) {
    polls++;
    Claim last = claim;
    if (last == null || !last.memberId.equals(memberId) || !last.assigned.equals(assigned)) {
      // Only the group changes these.
      claim = new Claim(memberId, Set.copyOf(assigned));
      joiningSinceNanos = null;
      confirmedAtNanos = nanoTime.getAsLong();
    }
  }

  /** Records that the consumer was closed. */
  void closed() {
    claim = null;
    commitsFailingSinceNanos = null;
  }

  /** Records why a consumer ended. Time spent on other errors is no fault of the coordinator. */
  void ended(Throwable failure) {
    if (!isCoordinatorFailure(failure)) {
      joiningSinceNanos = null;
    }
  }

  /** Records the result of a commit. */
  void committed(@Nullable Exception failure) {
    if (failure == null) {
      commitsFailingSinceNanos = null;
    } else if (commitsFailingSinceNanos == null && isCoordinatorFailure(failure)) {
      commitsFailingSinceNanos = nanoTime.getAsLong();
    }
  }

  /** Records that the group has confirmed the claim. */
  void confirmed() {
    confirmedAtNanos = nanoTime.getAsLong();
  }

  /** The group that the latest consumer joins; null before the first one. */
  @Nullable String groupId() {
    return groupId;
  }

  /** What the consumer believes; null while it has not joined. */
  @Nullable Claim claim() {
    return claim;
  }

  /** Number of polls so far. */
  long polls() {
    return polls;
  }

  /** Whether the group has confirmed the membership within that time. */
  boolean isConfirmedWithin(Duration duration) {
    return claim != null && nanoTime.getAsLong() - confirmedAtNanos <= duration.toNanos();
  }

  /** How long the consumer has been trying to join; zero if it has joined. */
  Duration joiningFor() {
    return since(joiningSinceNanos);
  }

  /** How long commits have been failing because of the coordinator; zero if they succeed. */
  Duration commitsFailingFor() {
    return since(commitsFailingSinceNanos);
  }

  private Duration since(@Nullable Long nanos) {
    return nanos == null ? Duration.ZERO : Duration.ofNanos(nanoTime.getAsLong() - nanos);
  }

  /** Whether a failure shows that the coordinator does not work, at least for the moment. */
  static boolean isCoordinatorFailure(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof CoordinatorNotAvailableException
          || cause instanceof CoordinatorLoadInProgressException
          || cause instanceof NotCoordinatorException
          || cause instanceof UnknownServerException
          || cause instanceof TimeoutException) {
        return true;
      }
    }
    return false;
  }
}
