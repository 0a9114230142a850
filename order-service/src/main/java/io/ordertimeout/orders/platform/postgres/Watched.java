package io.ordertimeout.orders.platform.postgres;

import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What one reader has read of something that {@link ChangeWatch} watches. Thread-safe. */
public final class Watched {

  private final Supplier<@Nullable String> fingerprint;
  private @Nullable String read;
  private long forgotten;

  /**
   * Creates a reader that has read nothing yet.
   *
   * @param fingerprint the present fingerprint; null if it is not known
   */
  Watched(Supplier<@Nullable String> fingerprint) {
    this.fingerprint = fingerprint;
  }

  /**
   * Reads, unless nothing has changed since the last reading that succeeded.
   *
   * @param reading returns whether it has succeeded; if not, or if it throws, it is repeated with
   *     the next call
   * @return false if the reading has not succeeded
   */
  public boolean readIfChanged(BooleanSupplier reading) {
    // Taken before the reading, so that a change during the reading leads to another one.
    String now = fingerprint.get();
    long before;
    synchronized (this) {
      if (now != null && now.equals(read)) {
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
