package io.ordertimeout.orders.suspension;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The suspensions that this instance knows to be in force: those that it read last, and those that
 * it has placed since. Nothing deletes the row of one that is in force. So one that is remembered
 * and gone was lost in a failover, or by the restoration of a backup, and is placed again.
 * Thread-safe.
 */
final class Remembered {

  private final Runnable onChange;
  private Set<Suspension> suspensions = Set.of();
  private long changes;

  /**
   * Creates an empty memory.
   *
   * @param onChange called after this instance has placed or ended some, which are read again
   */
  Remembered(Runnable onChange) {
    this.onChange = onChange;
  }

  /** Remembers them once the surrounding transaction, which places them, is committed. */
  void placed(Collection<Suspension> placed) {
    afterCommit(
        () -> {
          Set<Suspension> more = new LinkedHashSet<>(suspensions);
          more.addAll(placed);
          suspensions = more;
        });
  }

  /** Forgets them once the surrounding transaction, which ends them, is committed. */
  void ended(Collection<Suspension> ended) {
    afterCommit(
        () -> {
          Set<Suspension> rest = new LinkedHashSet<>(suspensions);
          rest.removeIf(suspension -> ended.stream().anyMatch(suspension::isSameAs));
          suspensions = rest;
        });
  }

  private void afterCommit(Runnable change) {
    TransactionSynchronizationManager.registerSynchronization(
        new TransactionSynchronization() {
          @Override
          public void afterCommit() {
            synchronized (Remembered.this) {
              change.run();
              changes++;
            }
            onChange.run();
          }
        });
  }

  /**
   * Reads those in force, after those that are gone were placed again. If that fails, they stay
   * remembered.
   *
   * @param inForce reads those in force
   * @param placeAgain places those that are gone, and not those that have ended; returns whether
   *     there were any
   */
  List<Suspension> read(
      Supplier<List<Suspension>> inForce, Predicate<List<Suspension>> placeAgain) {
    Set<Suspension> before;
    long changesBefore;
    synchronized (this) {
      before = suspensions;
      changesBefore = changes;
    }
    List<Suspension> found = inForce.get();
    Set<Suspension> missing = new LinkedHashSet<>(before);
    missing.removeAll(Set.copyOf(found));
    if (!missing.isEmpty() && placeAgain.test(List.copyOf(missing))) {
      found = inForce.get();
    }
    synchronized (this) {
      // Otherwise, what was placed meanwhile may be missing in what was read.
      if (changes == changesBefore) {
        suspensions = Set.copyOf(found);
      }
    }
    return found;
  }
}
