package io.ordertimeout.orders.order;

import java.util.Locale;

/** The effect of an event on its order: the tag {@code outcome} of the events metric. */
public enum Outcome {
  /** The order is pending and its deadline armed. */
  REGISTERED,
  /** The order was already known; nothing changed. */
  DUPLICATE,
  /** The payment or closure arrived first; the creation was recorded, nothing was armed. */
  SETTLED_BEFORE,
  /** The deadline was past for so long that the order was recorded as closed. */
  STALE,
  /** A policy exempts the order: nothing is decided. */
  EXEMPT,
  /** The pending order is not cancelled while the payment attempt is under way. */
  UNDER_WAY,
  /** The payment attempt of the pending order has ended. */
  ENDED,
  /** The pending order is changed. */
  CHANGED,
  /** The pending order is now paid or closed. */
  SETTLED,
  /** The creation has not arrived yet; the event is recorded for it. */
  AHEAD_OF_CREATION,
  /** The order is already paid, by another payment. */
  SECOND_PAYMENT,
  /** The payment met an order that is cancelled or closed. */
  CONFLICT,
  /** The closure, payment attempt or change arrived after the order was decided. */
  TOO_LATE;

  /** Returns whether an event of that kind can have this effect. */
  public boolean isPossibleFor(EventKind kind) {
    return switch (this) {
      case REGISTERED, SETTLED_BEFORE, STALE -> kind == EventKind.CREATED;
      case SECOND_PAYMENT, CONFLICT -> kind == EventKind.PAID;
      case UNDER_WAY, ENDED -> kind == EventKind.ATTEMPT;
      case CHANGED -> kind == EventKind.CHANGED;
      case SETTLED -> kind == EventKind.PAID || kind == EventKind.CLOSED;
      case DUPLICATE -> kind != EventKind.ATTEMPT && kind != EventKind.CHANGED;
      case EXEMPT -> kind != EventKind.CLOSED;
      case AHEAD_OF_CREATION, TOO_LATE -> kind != EventKind.CREATED;
    };
  }

  /** Returns the outcome as the value of a metric's tag. */
  public String tag() {
    return name().toLowerCase(Locale.ROOT);
  }
}
