package io.ordertimeout.orders.relay;

import io.ordertimeout.orders.outbox.OutboxEvent;
import java.time.Duration;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * One partition of an output topic: how many events are on their way to it, and whether it takes
 * more. While it does not, its events stay in Postgres, except for one, which is sent after a
 * back-off to find out whether it takes events again. Not thread-safe.
 */
final class Target {

  /** A partition that acknowledges nothing for this long does not count as working. */
  private static final Duration STALLED_AFTER = Duration.ofSeconds(2);

  private static final Duration MIN_BACK_OFF = Duration.ofMillis(500);
  private static final Duration MAX_BACK_OFF = Duration.ofSeconds(4);

  private final TopicPartition partition;
  private final int window;
  private int inFlight;
  private long progressNanos;
  private boolean failing;
  private long failedAtNanos;
  private Duration backOff = MIN_BACK_OFF;

  /** The event that is sent after the back-off. */
  private @Nullable OutboxEvent probe;

  /** The order whose event was the last probe, until an event is acknowledged. */
  private @Nullable String probed;

  /**
   * Creates a target with nothing on its way.
   *
   * @param window maximum number of events on their way
   */
  Target(TopicPartition partition, int window) {
    this.partition = partition;
    this.window = window;
  }

  TopicPartition partition() {
    return partition;
  }

  /** Whether an event may be sent now. */
  boolean takes(long nowNanos) {
    return !isBlocked(nowNanos) && inFlight < window;
  }

  /** Records that an event is sent. */
  void sent(long nowNanos) {
    if (inFlight == 0) {
      progressNanos = nowNanos;
    }
    inFlight++;
  }

  /**
   * Records that an event stays in Postgres because the partition is blocked.
   *
   * @return the event to forget: this one, or the one that it replaces as the next probe
   */
  @Nullable OutboxEvent leaveBehind(OutboxEvent event) {
    OutboxEvent before = probe;
    // The event that failed may itself be the cause, so that of another order is tried next.
    if (before == null || (before.orderId().equals(probed) && !event.orderId().equals(probed))) {
      probe = event;
      return before;
    }
    return event;
  }

  /**
   * Takes the event with which the partition is tried again; null if it is not time.
   *
   * @param leaderSeenNanos when the partition was last seen with a leader
   */
  @Nullable OutboxEvent takeProbe(long nowNanos, long leaderSeenNanos) {
    boolean due =
        failing
            ? inFlight == 0
                && nowNanos - failedAtNanos >= backOff.toNanos()
                && leaderSeenNanos - failedAtNanos > 0
            : takes(nowNanos);
    if (probe == null || !due) {
      return null;
    }
    OutboxEvent taken = probe;
    probe = null;
    probed = taken.orderId();
    return taken;
  }

  /** Gives up the next probe, which nobody has to send from here any more. */
  @Nullable OutboxEvent removeProbe() {
    OutboxEvent removed = probe;
    probe = null;
    failing = false;
    return removed;
  }

  /** The event with which the partition is tried again; null if none was left behind. */
  @Nullable OutboxEvent probe() {
    return probe;
  }

  /**
   * Records that Kafka has acknowledged an event.
   *
   * @return whether events may have been left behind that it accepts now
   */
  boolean acknowledged(long nowNanos) {
    boolean recovered = probed != null;
    inFlight--;
    progressNanos = nowNanos;
    failing = false;
    backOff = MIN_BACK_OFF;
    probed = null;
    return recovered;
  }

  /** Records that an event has failed because of its partition or topic. */
  void failed(OutboxEvent event, long nowNanos) {
    inFlight--;
    if (event.orderId().equals(probed) && backOff.compareTo(MAX_BACK_OFF) < 0) {
      backOff = backOff.multipliedBy(2);
    }
    fail(nowNanos);
  }

  /** Records that an event has failed because of itself. */
  void rejected(long nowNanos) {
    inFlight--;
    progressNanos = nowNanos;
  }

  /** Records that nothing can be sent, because the partition has no leader or does not exist. */
  void fail(long nowNanos) {
    failing = true;
    failedAtNanos = nowNanos;
  }

  /** Whether the last attempt has failed, and another is to be made. */
  boolean isFailing() {
    return failing && (probe != null || inFlight > 0);
  }

  /** When the last attempt failed. */
  long failedAtNanos() {
    return failedAtNanos;
  }

  /** The number of events on their way. */
  int inFlight() {
    return inFlight;
  }

  /** Whether the last attempt has failed, or nothing has been acknowledged for a while. */
  boolean isBlocked(long nowNanos) {
    return failing || (inFlight > 0 && nowNanos - progressNanos > STALLED_AFTER.toNanos());
  }
}
