package io.ordertimeout.orders.intake;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The offsets that one consumer commits to its group. Reading resumes at the positions in Postgres,
 * so the commits only inform Kafka's tools: they are sent every few seconds, when the consumer has
 * caught up, and before partitions are revoked. Confined to the consumer's thread.
 */
final class OffsetCommits {

  private static final Logger log = LoggerFactory.getLogger(OffsetCommits.class);

  /** The time between two commits while records keep arriving. */
  static final Duration INTERVAL = Duration.ofSeconds(5);

  /** The time until a failed commit is repeated. */
  static final Duration RETRY = Duration.ofSeconds(1);

  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  /** Notified of results. */
  interface Listener {

    /** A commit has succeeded, or has failed for that reason and will be repeated. */
    void committed(@Nullable Exception failure);

    /**
     * The consumer has no partitions, so no commit that has failed, even before it, is repeated.
     */
    void nothingToCommit();
  }

  private final Listener listener;
  private final LongSupplier nanoTime;
  private final Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>();
  private long sentAtNanos;
  private boolean failed;

  OffsetCommits(Listener listener, LongSupplier nanoTime) {
    this.listener = listener;
    this.nanoTime = nanoTime;
    this.sentAtNanos = nanoTime.getAsLong();
  }

  /**
   * Commits the offsets that are not committed yet, if it is time to.
   *
   * @param stored the offsets below which everything is stored
   * @param caughtUp whether the last poll brought nothing new
   */
  void commitIfDue(
      Consumer<?, ?> consumer, Map<TopicPartition, OffsetAndMetadata> stored, boolean caughtUp) {
    committed.keySet().retainAll(stored.keySet());
    if (stored.isEmpty()) {
      listener.nothingToCommit();
    }
    if (!isDue(caughtUp)) {
      return;
    }
    Map<TopicPartition, OffsetAndMetadata> uncommitted = new HashMap<>(stored);
    uncommitted.entrySet().removeAll(committed.entrySet());
    if (uncommitted.isEmpty()) {
      return;
    }
    sentAtNanos = nanoTime.getAsLong();
    failed = false;
    committed.putAll(uncommitted);
    consumer.commitAsync(uncommitted, this::onCommit);
  }

  private boolean isDue(boolean caughtUp) {
    long elapsed = nanoTime.getAsLong() - sentAtNanos;
    return failed ? elapsed >= RETRY.toNanos() : caughtUp || elapsed >= INTERVAL.toNanos();
  }

  private void onCommit(
      Map<TopicPartition, OffsetAndMetadata> offsets, @Nullable Exception failure) {
    if (failure != null) {
      failed = true;
      committed.clear();
    }
    listener.committed(failure);
  }

  /** Commits offsets of partitions that are about to be revoked. */
  void commitBeforeRevocation(
      Consumer<?, ?> consumer,
      Map<TopicPartition, OffsetAndMetadata> stored,
      Collection<TopicPartition> partitions) {
    Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>(stored);
    offsets.keySet().retainAll(partitions);
    if (offsets.isEmpty()) {
      return;
    }
    try {
      consumer.commitSync(offsets, TIMEOUT);
    } catch (RuntimeException e) {
      log.warn(
          "Could not commit offsets before a revocation; the next owner resumes at the positions in"
              + " Postgres: {}",
          e.toString());
    }
  }
}
