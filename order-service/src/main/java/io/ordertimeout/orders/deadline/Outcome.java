package io.ordertimeout.orders.deadline;

import java.util.Locale;

/** What an event did to its order: the {@code outcome} of the events metric. */
public enum Outcome {
  /** The order is pending and its deadline armed. */
  REGISTERED,
  /** The order was known already; nothing changed. */
  DUPLICATE,
  /** The payment or closing had come first; the creation was recorded, nothing armed. */
  SETTLED_BEFORE,
  /** The deadline was so long past that the order was recorded as closed. */
  STALE,
  /** The pending order is paid or closed now. */
  SETTLED,
  /** The creation has not come yet; the payment or closing is recorded for it. */
  AHEAD_OF_CREATION,
  /** The order is paid already, by another payment. */
  SECOND_PAYMENT,
  /** The payment found its order cancelled or closed. */
  CONFLICT,
  /** The closing came after the order was decided. */
  TOO_LATE;

  /** The outcome as it stands in a metric's tag. */
  public String tag() {
    return name().toLowerCase(Locale.ROOT);
  }
}
