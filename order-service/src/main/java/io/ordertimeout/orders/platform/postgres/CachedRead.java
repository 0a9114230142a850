package io.ordertimeout.orders.platform.postgres;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What one reader has read of something that {@link ChangeDetector} watches. Thread-safe. */
public final class CachedRead {

  /** Even if nothing seems to have changed, it is read again after this time. */
  static final Duration MAX_AGE = Duration.ofSeconds(30);

  private final Supplier<@Nullable String> fingerprint;
  private final LongSupplier nanoTime;
  private @Nullable String read;
  private long readNanos;
  private long forgotten;

  /**
   * Creates a reader that has read nothing yet.
   *
   * @param fingerprint the present fingerprint; null if it is not known
   * @param nanoTime the monotonic time
   */
  CachedRead(Supplier<@Nullable String> fingerprint, LongSupplier nanoTime) {
    this.fingerprint = fingerprint;
    this.nanoTime = nanoTime;
  }

  /**
   * Reads, unless nothing has changed since the last reading that succeeded. What changes for less
   * than a second and back again goes unnoticed unless the fingerprint shows it.
   *
   * @param reading returns whether it has succeeded; if not, or if it throws, it is repeated with
   *     the next call
   * @return false if the reading has not succeeded
   */
  public boolean readIfChanged(BooleanSupplier reading) {
    // Taken before the reading, so that a change during the reading leads to another one.
    String now = fingerprint.get();
    long begin = nanoTime.getAsLong();
    long before;
    synchronized (this) {
      if (now != null && now.equals(read) && begin - readNanos < MAX_AGE.toNanos()) {
        return true;
      }
      read = null;
      before = forgotten;
    }
    if (!reading.getAsBoolean()) {
      return false;
    }
    synchronized (this) {
      if (forgotten == before) {
        read = now;
        readNanos = begin;
      }
    }
    return true;
  }

  /** Has the next call read in any case: what was read has been changed without Postgres. */
  public synchronized void forget() {
    forgotten++;
    read = null;
  }
}
