package io.ordertimeout.orders.benchmarks.measurement;

import com.zaxxer.hikari.HikariDataSource;
import io.ordertimeout.orders.benchmarks.contender.OrderTimeout;
import io.ordertimeout.orders.benchmarks.report.Results.Section;
import io.ordertimeout.orders.benchmarks.servers.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** The start of the service after a crash, and the rebuild of its wheels. */
final class Rebuild {

  private static final String BARE = "bare read of the same orders";
  private static final String RATE = "orders/s";
  private static final int FETCH_SIZE = 10_000;

  private Rebuild() {}

  /** Kills the service and starts it again. */
  static void measure(Database database, OrderTimeout service, Section section, String row)
      throws SQLException {
    service.kill();
    long begin = System.nanoTime();
    service.start();
    section.add(row, "start to ready, s", (System.nanoTime() - begin) / 1e9);
    double orders = service.metric("order_timeout_rebuilt_orders_total");
    if (orders == 0) {
      return;
    }
    double seconds = service.metric("order_timeout_rebuild_seconds_max");
    section.add(row, "orders", orders);
    section.add(row, "rebuild, s", seconds);
    section.add(row, RATE, orders / seconds);
    begin = System.nanoTime();
    long read = readAll(database);
    section.add(BARE, RATE, read * 1e9 / (System.nanoTime() - begin));
  }

  /** Reads what the wheels need, in their order, through one cursor. */
  private static long readAll(Database database) throws SQLException {
    long sum = 0;
    long rows = 0;
    try (HikariDataSource source = database.open(1);
        Connection connection = source.getConnection()) {
      connection.setAutoCommit(false);
      try (Statement statement = connection.createStatement()) {
        statement.setFetchSize(FETCH_SIZE);
        try (ResultSet result =
            statement.executeQuery(
                """
                select id, deadline from order_deadline where state = 'PENDING'
                order by shard, deadline, id
                """)) {
          while (result.next()) {
            sum += result.getLong(1) ^ result.getTimestamp(2).getTime();
            rows++;
          }
        }
      }
    }
    return sum == 0 ? 0 : rows;
  }
}
