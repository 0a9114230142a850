package io.ordertimeout.orders.relay;

import io.ordertimeout.orders.order.OutboxStore;
import io.ordertimeout.orders.order.OutboxStore.Found;
import io.ordertimeout.orders.order.OutboxStore.Position;
import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.position.ReadBackState;
import io.ordertimeout.orders.position.ReflectedServer;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The search for events that are left in the outbox: when it is due, and which page of the outbox
 * it reads next.
 *
 * <p>A sweep reads the rows of the owned shards by their positions, page by page. Sweeps are due
 * periodically, and earlier on request. A request during a sweep leads to another one after it,
 * because the rows in question may precede those that are read next. Requests may come from any
 * thread; all other methods are confined to the relay's thread.
 */
final class OutboxSweep {

  /** Younger rows may still be on their way to the relay in memory. */
  private static final Duration GRACE = Duration.ofSeconds(3);

  private static final Duration SOON = Duration.ofSeconds(1);
  private static final int PAGE_SIZE = 10_000;

  /**
   * A part of a sweep.
   *
   * @param events unpublished events of the outbox by position; they may be in memory already
   * @param reflected what the server that contains them was known to reflect before they were read
   * @param isFirst whether the sweep begins with this page
   * @param isLast whether the sweep ends with this page
   */
  record Page(
      List<OutboxEvent> events, ReflectedServer reflected, boolean isFirst, boolean isLast) {}

  private final OutboxStore outbox;
  private final ReadBackState readBack;
  private final Duration interval;
  private final Runnable wakeUp;

  private volatile long dueNanos = System.nanoTime();

  /** Whether a sweep is requested that has not begun. */
  private volatile boolean requested;

  /** Whether the next page has to begin a sweep. */
  private volatile boolean fromStart;

  /** When the sweep is due that follows a requested one; null if none does. */
  private @Nullable Long followUpNanos;

  /** Where the next page begins; the start between two sweeps. */
  private Position readUpTo = Position.START;

  /** Where the last page began. */
  private Position pageStart = Position.START;

  /**
   * Creates a search that is due immediately.
   *
   * @param interval pause between two periodic sweeps
   * @param wakeUp makes the relay's thread check again whether a page is due
   */
  OutboxSweep(OutboxStore outbox, ReadBackState readBack, Duration interval, Runnable wakeUp) {
    this.outbox = outbox;
    this.readBack = readBack;
    this.interval = interval;
    this.wakeUp = wakeUp;
  }

  /**
   * Requests a sweep now, in place of the current one, and another once rows that are being written
   * now exceed the grace.
   */
  void restart() {
    fromStart = true;
    requested = true;
    continueNow();
  }

  /**
   * Requests a sweep soon, after the current one, and another once rows that are being written now
   * exceed the grace.
   */
  void requestSoon() {
    requested = true;
    continueSoon();
  }

  /** Requests the next page of the current sweep without a pause. */
  void continueNow() {
    dueIn(Duration.ZERO);
  }

  /** Requests the next page of the current sweep after a moment. */
  void continueSoon() {
    dueIn(SOON);
  }

  /**
   * Requests a page after a moment that repeats the events after that position, because the first
   * of them found no room.
   *
   * @param position null if no event of the page did
   */
  void continueSoonAfter(@Nullable Position position) {
    readUpTo = position == null ? pageStart : position;
    continueSoon();
  }

  private void dueIn(Duration delay) {
    dueAt(System.nanoTime() + delay.toNanos());
  }

  private synchronized void dueAt(long at) {
    if (at - dueNanos < 0) {
      dueNanos = at;
    }
    wakeUp.run();
  }

  /** Returns whether the next page has to be read now. */
  boolean isDue() {
    return System.nanoTime() - dueNanos >= 0;
  }

  /** Reads the next page; if that fails, it is due again soon. */
  Page next(Set<Integer> shards) {
    dueNanos = System.nanoTime() + interval.toNanos();
    if (fromStart) {
      fromStart = false;
      readUpTo = Position.START;
    }
    boolean isFirst = readUpTo.equals(Position.START);
    if (isFirst) {
      begin();
    }
    ReflectedServer known = readBack.reflected();
    Found found = shards.isEmpty() ? Found.NONE : read(shards);
    pageStart = readUpTo;
    readUpTo = found.end() == null ? Position.START : found.end();
    boolean isReflected = known.identity().equals(found.server());
    return new Page(
        found.events(), isReflected ? known : ReflectedServer.NONE, isFirst, found.end() == null);
  }

  private void begin() {
    followUpNanos = null;
    if (requested) {
      // Rows that the previous owner or this instance has just written exceed the grace by then.
      requested = false;
      followUpNanos = System.nanoTime() + GRACE.toNanos();
    }
  }

  /** Records that all events of the current sweep's last page are accepted. */
  void end() {
    if (requested) {
      continueSoon();
    } else if (followUpNanos != null) {
      dueAt(followUpNanos);
    }
  }

  private Found read(Set<Integer> shards) {
    try {
      return outbox.findUnpublished(shards, readUpTo, GRACE.toMillis() / 1e3, PAGE_SIZE);
    } catch (RuntimeException | Error e) {
      requestSoon();
      throw e;
    }
  }
}
