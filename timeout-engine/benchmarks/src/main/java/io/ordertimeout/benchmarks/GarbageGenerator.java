package io.ordertimeout.benchmarks;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A thread that allocates about 200 MB per second and retains the last megabyte. */
final class GarbageGenerator implements AutoCloseable {

  private static final int PIECE = 1024;
  private static final int PIECES_PER_MILLI = 200;

  private final byte[][] kept = new byte[1024][];
  private final long startNanos = System.nanoTime();
  private final Thread thread;
  private volatile long pieces;
  private volatile boolean closing;

  GarbageGenerator() {
    thread = DaemonThreads.named("garbage").newThread(this::run);
    thread.start();
  }

  double megabytesPerSecond() {
    double seconds = (System.nanoTime() - startNanos) / 1e9;
    return pieces * (double) PIECE / 1e6 / seconds;
  }

  @Override
  public void close() {
    closing = true;
    Waiting.on(thread);
  }

  private void run() {
    long made = 0;
    while (!closing) {
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
      while (made < millis * PIECES_PER_MILLI) {
        kept[(int) (made % kept.length)] = new byte[PIECE];
        made++;
      }
      pieces = made;
      LockSupport.parkNanos(1_000_000);
    }
  }
}
