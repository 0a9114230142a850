package io.ordertimeout.orders.order;

/**
 * Before which time orders may have been purged. The purge announces it before it deletes anything;
 * what would make an order pending again, or calls an order unknown, asks for it.
 */
final class PurgeHorizon {

  /** SQL expression: an order whose decision and deadline are earlier may have been purged. */
  static final String SQL = "(select orders_before from purge_horizon)";

  /** SQL statement: announces the time {@code :before}, unless a later one is announced. */
  static final String ANNOUNCE =
      "update purge_horizon set orders_before = :before where orders_before < :before";

  private PurgeHorizon() {}
}
