package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.audit.OperatorAction;
import org.jspecify.annotations.Nullable;

/**
 * What became of one item of a change of many.
 *
 * @param <T> the type of the items
 * @param item what was to be changed
 * @param outcome what became of it
 * @param detail why it was not changed; null if it was
 * @param action the recorded action; null if there is none
 */
public record BulkResult<T>(
    T item, Outcome outcome, @Nullable String detail, @Nullable OperatorAction action) {

  /** What can become of an item. */
  public enum Outcome {
    /** It was changed. */
    CHANGED,
    /** It was changed before, by the same request or another one for the same. */
    UNCHANGED,
    /** It cannot be changed like that. */
    IMPOSSIBLE,
    /** There is no such item. */
    UNKNOWN,
    /** It is not known whether it was changed, because Postgres or Kafka did not answer. */
    FAILED
  }
}
