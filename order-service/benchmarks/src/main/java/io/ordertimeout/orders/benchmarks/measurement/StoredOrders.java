package io.ordertimeout.orders.benchmarks.measurement;

import io.ordertimeout.orders.benchmarks.servers.Database;
import io.ordertimeout.orders.benchmarks.traffic.Shop;

/**
 * Orders that are in the table before anything is measured: pending ones that come due within two
 * weeks, but not soon, and settled ones. Their ids are in no order.
 */
final class StoredOrders {

  private static final long CHUNK = 500_000;

  private StoredOrders() {}

  /**
   * Adds orders to the table of the order service, which must exist.
   *
   * @param name distinguishes them from other stored orders
   */
  static void add(Database database, String name, long pending, long settled) {
    for (long from = 0; from < pending; from += CHUNK) {
      insert(database, name + "-pending-", true, from, Math.min(pending, from + CHUNK));
    }
    for (long from = 0; from < settled; from += CHUNK) {
      insert(database, name + "-settled-", false, from, Math.min(settled, from + CHUNK));
    }
    database.admin().sql("vacuum (analyze) order_deadline").update();
    database.admin().sql("checkpoint").update();
  }

  private static void insert(Database database, String name, boolean pending, long from, long to) {
    database
        .admin()
        .sql(
            """
            insert into order_deadline (
              order_id, shard, state, created_at, deadline, policy, channel, amount, currency,
              decided_at, decided_by, payment_id, paid_at)
            select
              'order-' || md5(:name || i), i % :shards, case when :pending then 'PENDING' else 'PAID' end,
              now() - interval '1 h', now() + make_interval(secs => 86400 + i % 1209600), 'PAY_BY',
              'web', 59.9, 'EUR',
              case when not :pending then now() end, case when not :pending then 'PAYMENT' end,
              case when not :pending then 'p-' || i end, case when not :pending then now() end
            from generate_series(:from::bigint, :to::bigint - 1) as i
            """)
        .param("name", name)
        .param("shards", Shop.PARTITIONS)
        .param("pending", pending)
        .param("from", from)
        .param("to", to)
        .update();
  }
}
