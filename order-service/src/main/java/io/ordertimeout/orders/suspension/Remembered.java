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
 * The rows of a table that this instance knows to be in force: those that it read last, and those
 * that it has placed since. Nothing deletes a row that is in force. So a row that is remembered and
 * gone was lost in a failover, or by the restoration of a backup, and is placed again. Thread-safe.
 *
 * @param <T> a row; equal to itself for as long as it is in force
 */
final class Remembered<T> {

  private final Runnable onChange;
  private Set<T> rows = Set.of();
  private long changes;

  /**
   * Creates an empty memory.
   *
   * @param onChange called after this instance has placed or ended rows, which are read again
   */
  Remembered(Runnable onChange) {
    this.onChange = onChange;
  }

  /** Remembers rows once the surrounding transaction, which places them, is committed. */
  void placed(Collection<T> placed) {
    afterCommit(
        () -> {
          Set<T> more = new LinkedHashSet<>(rows);
          more.addAll(placed);
          rows = more;
        });
  }

  /** Forgets rows once the surrounding transaction, which ends them, is committed. */
  void ended(Predicate<T> ended) {
    afterCommit(
        () -> {
          Set<T> rest = new LinkedHashSet<>(rows);
          rest.removeIf(ended);
          rows = rest;
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
   * Reads the rows in force, after those that are gone were placed again. If that fails, they stay
   * remembered.
   *
   * @param inForce reads the rows in force
   * @param placeAgain places those of the rows that are gone, and not those that have ended;
   *     returns whether there were any
   */
  List<T> read(Supplier<List<T>> inForce, Predicate<List<T>> placeAgain) {
    Set<T> before;
    long changesBefore;
    synchronized (this) {
      before = rows;
      changesBefore = changes;
    }
    List<T> found = inForce.get();
    Set<T> missing = new LinkedHashSet<>(before);
    missing.removeAll(Set.copyOf(found));
    if (!missing.isEmpty() && placeAgain.test(List.copyOf(missing))) {
      found = inForce.get();
    }
    synchronized (this) {
      // Otherwise, what was placed meanwhile may be missing in what was read.
      if (changes == changesBefore) {
        rows = Set.copyOf(found);
      }
    }
    return found;
  }
}
