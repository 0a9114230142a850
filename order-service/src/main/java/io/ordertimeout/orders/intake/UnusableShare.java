package io.ordertimeout.orders.intake;

import java.util.HashMap;
import java.util.Map;

/**
 * The share of unusable records of each topic, among the last hundred records or in the batch at
 * hand, whichever is more. If it exceeds a limit, the producer is more likely at fault than some
 * records. Thread-safe; all operations are O(1).
 */
final class UnusableShare {

  /**
   * How many records are judged at least. Before so many were read, the missing ones are usable.
   */
  static final int RECORDS = 100;

  /** The outcomes of a topic's last records, in a ring. */
  private static final class Latest {
    private final boolean[] unusable = new boolean[RECORDS];
    private int next;

    void add(boolean isUnusable) {
      unusable[next] = isUnusable;
      next = (next + 1) % RECORDS;
    }

    int unusable(int last) {
      int count = 0;
      for (int back = 1; back <= last; back++) {
        count += unusable[Math.floorMod(next - back, RECORDS)] ? 1 : 0;
      }
      return count;
    }
  }

  private final double limit;
  private final Map<String, Latest> topics = new HashMap<>();

  /**
   * Creates it.
   *
   * @param limit the highest share that may be unusable, 0 to 1
   */
  UnusableShare(double limit) {
    this.limit = limit;
  }

  /** Returns whether the share exceeds the limit with these further records of a topic. */
  synchronized boolean isExceeded(String topic, int unusable, int records) {
    int earlier = Math.max(0, RECORDS - records);
    return unusable + latest(topic).unusable(earlier) > limit * (earlier + records);
  }

  /** Adds records that were taken in, or became dead letters. */
  synchronized void add(String topic, int unusable, int records) {
    Latest latest = latest(topic);
    int kept = Math.min(records, RECORDS);
    int keptUnusable = (int) Math.round((double) unusable * kept / Math.max(1, records));
    for (int i = 0; i < kept; i++) {
      latest.add(i < keptUnusable);
    }
  }

  /** Forgets the records of a topic. */
  synchronized void forget(String topic) {
    topics.remove(topic);
  }

  private Latest latest(String topic) {
    return topics.computeIfAbsent(topic, absent -> new Latest());
  }
}
