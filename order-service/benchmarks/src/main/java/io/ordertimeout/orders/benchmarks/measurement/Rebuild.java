package io.ordertimeout.orders.benchmarks.measurement;

import com.zaxxer.hikari.HikariDataSource;
import io.ordertimeout.orders.benchmarks.contender.OrderTimeout;
import io.ordertimeout.orders.benchmarks.report.Results.Section;
import io.ordertimeout.orders.benchmarks.servers.Database;
import io.ordertimeout.orders.benchmarks.servers.Waiting;
import io.ordertimeout.orders.benchmarks.traffic.Shop;
import io.ordertimeout.orders.benchmarks.traffic.Trial;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The start of the service after a crash, and the rebuild of its wheels. */
final class Rebuild {

  private static final String BARE = "bare read of the same orders";
  private static final String RATE = "orders/s";
  private static final int FETCH_SIZE = 10_000;

  /** The number of orders that come due while the service is down. */
  private static final int DUE = 1_000;

  private static final Duration TIME_TO_STORE = Duration.ofSeconds(10);
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private Rebuild() {}

  /**
   * Kills the service, lets some orders come due and starts the service again; returns what is
   * wrong with the cancellations of these orders.
   */
  static List<String> measure(
      Shop shop, OrderTimeout service, Section section, String row, long firstNumber)
      throws SQLException {
    try (Trial trial = new Trial(shop, firstNumber, DUE)) {
      long deadline = System.currentTimeMillis() + TIME_TO_STORE.toMillis();
      for (int i = 0; i < DUE; i++) {
        trial.customers().create(deadline);
      }
      trial.customers().flush();
      if (!shop.awaitRead(shop.created(), TIME_TO_STORE)) {
        throw new IllegalStateException("The orders are not stored within " + TIME_TO_STORE);
      }
      service.kill();
      Waiting.until(() -> System.currentTimeMillis() > deadline, TIME_TO_STORE);
      long begin = System.nanoTime();
      service.start();
      section.add(row, "start to ready, s", (System.nanoTime() - begin) / 1e9);
      if (!Waiting.until(() -> trial.judge().cancelled() >= DUE, PATIENCE)) {
        throw new IllegalStateException(trial.judge().cancelled() + " of " + DUE + " cancelled");
      }
      addDecisions(section, row, shop.database(), deadline, service.owningShardsSince());
      addRates(section, row, shop.database(), service);
      return trial.judge().verdict().violations();
    }
  }

  /** Adds how long after the start owned its shards it decided the orders that were due. */
  private static void addDecisions(
      Section section, String row, Database database, long deadline, Instant owned) {
    Map<String, Object> decided =
        database
            .admin()
            .sql(
                """
                select min(decided_at) as first, max(decided_at) as last from order_deadline
                where deadline = to_timestamp(:deadline / 1000.0) and decided_by = 'EXPIRY'
                """)
            .param("deadline", deadline)
            .query()
            .singleRow();
    section.add(
        row,
        "first due order decided after owning shards, s",
        secondsSince(owned, decided.get("first")));
    section.add(row, "last of %,d, s".formatted(DUE), secondsSince(owned, decided.get("last")));
  }

  private static double secondsSince(Instant start, @Nullable Object time) {
    return time instanceof Timestamp stamp
        ? Duration.between(start, stamp.toInstant()).toMillis() / 1e3
        : Double.NaN;
  }

  private static void addRates(Section section, String row, Database database, OrderTimeout service)
      throws SQLException {
    double orders = service.metric("order_timeout_rebuilt_orders_total");
    if (orders <= DUE) {
      return;
    }
    double seconds = service.metric("order_timeout_rebuild_seconds_max");
    section.add(row, "orders", orders);
    section.add(row, "rebuild, s", seconds);
    section.add(row, RATE, orders / seconds);
    readAll(database); // The service has read them before as well.
    long begin = System.nanoTime();
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
