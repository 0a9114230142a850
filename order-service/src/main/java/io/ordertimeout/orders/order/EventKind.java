package io.ordertimeout.orders.order;

import java.util.Locale;

/** What an event tells about its order: the tag {@code event} of metrics. */
public enum EventKind {
  CREATED,
  PAID,
  CLOSED,
  ATTEMPT,
  CHANGED;

  /** Returns the kind as the value of a metric's tag. */
  public String tag() {
    return name().toLowerCase(Locale.ROOT);
  }
}
