package io.ordertimeout.orders.access;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** A limit on what is under way at the same time, for each key. Thread-safe. */
final class ConcurrencyLimit {

  private final int max;
  private final ConcurrentMap<String, Integer> underWay = new ConcurrentHashMap<>();

  ConcurrencyLimit(int max) {
    this.max = max;
  }

  boolean tryAcquire(String key) {
    boolean[] acquired = new boolean[1];
    underWay.compute(
        key,
        (k, count) -> {
          int now = count == null ? 0 : count;
          acquired[0] = now < max;
          return acquired[0] ? Integer.valueOf(now + 1) : count;
        });
    return acquired[0];
  }

  void release(String key) {
    underWay.computeIfPresent(key, (k, count) -> count == 1 ? null : count - 1);
  }
}
