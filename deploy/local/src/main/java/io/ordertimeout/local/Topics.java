package io.ordertimeout.local;

import java.util.List;
import java.util.Set;

/** Topic names, equal to the defaults of the service, or to the names in its documents. */
final class Topics {
  static final String CREATED = "order-created";
  static final String PAID = "order-paid";
  static final String CLOSED = "order-closed";
  static final String ATTEMPTS = "order-payment-attempt";
  static final String CHANGED = "order-changed";
  static final String CANCELLED = "order-cancelled";
  static final String CONFLICT = "order-payment-conflict";

  static final String EXPIRING = "order-expiring";

  /** The topics that every service has. */
  static final List<String> USUAL = List.of(CREATED, PAID, CLOSED, CANCELLED, CONFLICT);

  static final List<String> ALL =
      List.of(CREATED, PAID, CLOSED, ATTEMPTS, CHANGED, CANCELLED, CONFLICT, EXPIRING);

  static final Set<String> OUTPUTS = Set.of(CANCELLED, CONFLICT, EXPIRING);

  private Topics() {}

  static String of(ShopEvent event) {
    if (event instanceof ShopEvent.Created) {
      return CREATED;
    }
    if (event instanceof ShopEvent.Attempt) {
      return ATTEMPTS;
    }
    if (event instanceof ShopEvent.Changed) {
      return CHANGED;
    }
    return event instanceof ShopEvent.Paid ? PAID : CLOSED;
  }
}
