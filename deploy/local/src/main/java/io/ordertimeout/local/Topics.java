package io.ordertimeout.local;

import java.util.List;

/** Topic names, equal to the defaults of the service. */
final class Topics {
  static final String CREATED = "order-created";
  static final String PAID = "order-paid";
  static final String CLOSED = "order-closed";
  static final String CANCELLED = "order-cancelled";
  static final String CONFLICT = "order-payment-conflict";

  static final List<String> ALL = List.of(CREATED, PAID, CLOSED, CANCELLED, CONFLICT);

  private Topics() {}

  static String of(ShopEvent event) {
    if (event instanceof ShopEvent.Created) {
      return CREATED;
    }
    return event instanceof ShopEvent.Paid ? PAID : CLOSED;
  }
}
