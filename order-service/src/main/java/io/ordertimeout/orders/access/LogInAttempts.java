package io.ordertimeout.orders.access;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Ticker;
import java.time.Duration;

/**
 * The failed log-ins that are left to each user from each address (token buckets). A failure uses
 * one up, and one is regained at regular intervals, so a lockout does not last long. Remembers at
 * most 100,000 pairs of user and address. Thread-safe.
 */
final class LogInAttempts {

  private static final int MAX_PAIRS = 100_000;

  private record Pair(String user, String address) {}

  private final class Bucket {
    private double left = max;
    private long asOfNanos = ticker.read();

    synchronized boolean take() {
      refill();
      if (left < 1) {
        return false;
      }
      left--;
      return true;
    }

    synchronized boolean isEmpty() {
      refill();
      return left < 1;
    }

    synchronized void giveBack() {
      left = Math.min(max, left + 1);
    }

    private void refill() {
      long now = ticker.read();
      left = Math.min(max, left + (double) (now - asOfNanos) / regain.toNanos());
      asOfNanos = now;
    }
  }

  private final int max;
  private final Duration regain;
  private final Ticker ticker;
  private final Cache<Pair, Bucket> buckets;

  /**
   * Creates full buckets.
   *
   * @param max number of failures that a user may have from an address at once
   * @param within the time in which that many are regained
   */
  LogInAttempts(int max, Duration within, Ticker ticker) {
    this.max = max;
    this.regain = within.dividedBy(max);
    this.ticker = ticker;
    this.buckets =
        Caffeine.newBuilder()
            .expireAfterAccess(within)
            .maximumSize(MAX_PAIRS)
            .ticker(ticker)
            .build();
  }

  /** Uses one attempt up; returns false if none is left. */
  boolean take(String user, String address) {
    return bucket(user, address).take();
  }

  /** Returns an attempt that was no failure. */
  void giveBack(String user, String address) {
    bucket(user, address).giveBack();
  }

  /** Returns whether no attempt is left. */
  boolean areUsedUp(String user, String address) {
    return bucket(user, address).isEmpty();
  }

  /** Returns the time after which one attempt is regained. */
  Duration regain() {
    return regain;
  }

  private Bucket bucket(String user, String address) {
    return buckets.get(new Pair(user, address), pair -> new Bucket());
  }
}
