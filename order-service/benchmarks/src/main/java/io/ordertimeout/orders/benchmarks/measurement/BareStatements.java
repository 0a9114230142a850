package io.ordertimeout.orders.benchmarks.measurement;

import com.zaxxer.hikari.HikariDataSource;
import io.ordertimeout.orders.benchmarks.servers.Database;
import io.ordertimeout.orders.benchmarks.traffic.OrderIds;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.stream.LongStream;

/**
 * The least that any design has to do in Postgres, as fast as one connection can do it: arrays of
 * 1,000 orders on a table with three indexes, without reading topics, decoding, conditions or
 * publishing.
 */
final class BareStatements {

  /** A row of figures that belongs to the bare statements. */
  static final String ROW = "bare statements";

  private static final int BATCH = 1_000;

  private static final String[] TABLES = {
    """
    create table bare_order (
      id bigint generated always as identity, order_id text collate "C" primary key, shard int not null,
      state text not null, created_at timestamptz, deadline timestamptz, channel text, amount numeric,
      currency text, decided_at timestamptz, payment_id text, paid_at timestamptz
    ) with (fillfactor = 90)
    """,
    "create unique index on bare_order (id)",
    "create index on bare_order (shard, deadline, id) where state = 'PENDING'",
    """
    create table bare_outbox (
      id bigint generated always as identity, order_id text collate "C" primary key, shard int,
      deadline timestamptz, cancelled_at timestamptz
    )
    """,
  };

  private static final String INSERT =
      """
      insert into bare_order (order_id, shard, state, created_at, deadline, channel, amount, currency)
      select id, 0, 'PENDING', now(), now(), 'web', 59.9, 'EUR' from unnest(?::text[]) as o(id)
      order by id
      """;

  private static final String PAY =
      """
      update bare_order set state = 'PAID', decided_at = now(), payment_id = order_id, paid_at = now()
      where order_id = any(?::text[]) and state = 'PENDING'
      """;

  private static final String DECIDE =
      """
      with cancelled as (
        update bare_order set state = 'CANCELLED', decided_at = now()
        where order_id = any(?::text[]) and state = 'PENDING'
        returning order_id, shard, deadline, decided_at
      )
      insert into bare_outbox (order_id, shard, deadline, cancelled_at)
      select order_id, shard, deadline, decided_at from cancelled
      """;

  private final Database database;
  private final int orders;

  /** Uses a database of its own. */
  BareStatements(Database database, int orders) {
    this.database = database;
    this.orders = orders;
    for (String table : TABLES) {
      database.admin().sql(table).update();
    }
  }

  /** Orders per second that are stored. */
  double created() throws SQLException {
    run(INSERT, 0, orders);
    return run(INSERT, orders, 3 * orders);
  }

  /** Orders per second that become paid. */
  double paid() throws SQLException {
    return run(PAY, orders, 2 * orders);
  }

  /** Orders per second that are cancelled, with a row in an outbox. */
  double cancelled() throws SQLException {
    return run(DECIDE, 2 * orders, 3 * orders);
  }

  private double run(String statement, int from, int to) throws SQLException {
    try (HikariDataSource source = database.open(1);
        Connection connection = source.getConnection();
        PreparedStatement prepared = connection.prepareStatement(statement)) {
      long begin = System.nanoTime();
      for (int batch = from; batch < to; batch += BATCH) {
        String[] ids =
            LongStream.range(batch, Math.min(to, batch + BATCH))
                .mapToObj(OrderIds::of)
                .toArray(String[]::new);
        prepared.setArray(1, connection.createArrayOf("text", ids));
        prepared.executeUpdate();
      }
      return (to - from) * 1e9 / (System.nanoTime() - begin);
    }
  }
}
