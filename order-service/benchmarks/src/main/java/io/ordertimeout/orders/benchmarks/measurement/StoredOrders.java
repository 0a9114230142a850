package io.ordertimeout.orders.benchmarks.measurement;

import io.ordertimeout.orders.benchmarks.servers.Database;
import io.ordertimeout.orders.benchmarks.traffic.Shop;
import java.time.Duration;

/**
 * Orders that are in the table before anything is measured: pending ones that come due within two
 * weeks, but not soon, and settled ones. Their ids are in no order.
 */
final class StoredOrders {

  private static final long CHUNK = 500_000;
  private static final Duration OLD = Duration.ofDays(60);

  private StoredOrders() {}

  /**
   * Adds orders to the table of the order service, which must exist.
   *
   * @param name distinguishes them from other stored orders
   */
  static void add(Shop shop, String name, long pending, long settled) {
    insert(shop, name + "-pending-", true, Duration.ZERO, pending);
    insert(shop, name + "-settled-", false, Duration.ZERO, settled);
    vacuum(shop.database());
  }

  /** Adds orders that were settled and due so long ago that they are to be purged. */
  static void addOld(Shop shop, String name, long settled) {
    insert(shop, name + "-settled-", false, OLD, settled);
    vacuum(shop.database());
  }

  /** Returns whether no order is left that is to be purged. */
  static boolean areOldPurged(Database database) {
    return database
        .admin()
        .sql(
            """
            select not exists (
              select from order_deadline
              where state <> 'PENDING' and deadline is not null
                and greatest(decided_at, deadline, latest_deadline) < now() - interval '30 d')
            """)
        .query(Boolean.class)
        .single();
  }

  /** Removes dead rows and brings Postgres's statistics up to date. */
  static void vacuum(Database database) {
    database.admin().sql("vacuum (analyze) order_deadline").update();
    database.admin().sql("checkpoint").update();
  }

  private static void insert(Shop shop, String name, boolean pending, Duration age, long orders) {
    for (long from = 0; from < orders; from += CHUNK) {
      insert(shop, name, pending, age, from, Math.min(orders, from + CHUNK));
    }
  }

  private static void insert(
      Shop shop, String name, boolean pending, Duration age, long from, long to) {
    shop.database()
        .admin()
        .sql(
            """
            insert into order_deadline (
              order_id, shard, state, created_at, deadline, policy, channel, amount, currency,
              decided_at, decided_by, payment_id, paid_at)
            select
              'order-' || md5(:name || i), i % :shards, case when :pending then 'PENDING' else 'PAID' end,
              t.time - interval '1 h', t.time + make_interval(secs => 86400 + i % 1209600), 'PAY_BY',
              'web', 59.9, 'EUR',
              case when not :pending then t.time end, case when not :pending then 'PAYMENT' end,
              case when not :pending then 'p-' || i end, case when not :pending then t.time end
            from (select now() - make_interval(secs => :age) as time) as t
            cross join generate_series(:from::bigint, :to::bigint - 1) as i
            """)
        .param("name", name)
        .param("shards", shop.partitions())
        .param("pending", pending)
        .param("age", age.toSeconds())
        .param("from", from)
        .param("to", to)
        .update();
  }
}
