package io.ordertimeout.it.size;

import io.ordertimeout.embedded.EmbeddedPostgres;
import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.TestEnvironment;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * A Postgres of its own that counts, for each statement of the service, the calls, the resulting
 * rows and the pages read (extension {@code pg_stat_statements}). The service has a user of its own
 * there, so what the test itself does is not counted.
 */
final class StatementCosts implements AutoCloseable {

  private static final String SERVICE = "service";

  /**
   * What a statement has cost.
   *
   * @param calls how often it was executed
   * @param rows how many rows it returned or changed in all
   * @param pages how many pages of tables and indexes it read in all, from memory or disk
   */
  record Cost(long calls, long rows, long pages) {

    /** Pages for each execution and each resulting row. */
    double pagesPerResult() {
      return (double) pages / (calls + rows);
    }
  }

  private final EmbeddedPostgres server;
  private final Scenario scenario;

  StatementCosts(Path directory) throws IOException {
    server = new EmbeddedPostgres(directory.resolve("postgres"), 0);
    server.start();
    JdbcTemplate admin =
        new JdbcTemplate(
            new DriverManagerDataSource(
                server.jdbcUrl(), EmbeddedPostgres.NAME, server.password()));
    // Nothing here is about durability, nor about the time that something takes.
    for (String setting : List.of("fsync = off", "shared_preload_libraries = pg_stat_statements")) {
      admin.execute("alter system set " + setting);
    }
    admin.execute(
        "create role " + SERVICE + " superuser login password '" + server.password() + "'");
    server.stop();
    server.start();
    String kafka = TestEnvironment.shared().bootstrapServers();
    scenario = Scenario.on(environment(kafka, EmbeddedPostgres.NAME), environment(kafka, SERVICE));
    database().execute("create extension pg_stat_statements");
  }

  private TestEnvironment environment(String kafka, String user) {
    return new TestEnvironment(kafka, server.jdbcUrl(), user, server.password());
  }

  Scenario scenario() {
    return scenario;
  }

  private Database database() {
    return scenario.database();
  }

  /** Begins to count anew. */
  void reset() {
    database().text("select pg_stat_statements_reset()::text");
  }

  /** The costs of the service's statements since the last {@link #reset}, by their text. */
  Map<String, Cost> read() {
    Map<String, Cost> costs = new TreeMap<>();
    database()
        .query(
            """
            select query, sum(calls)::bigint as calls, sum(rows)::bigint as rows,
              sum(shared_blks_hit + shared_blks_read + local_blks_hit + local_blks_read
                + temp_blks_read + temp_blks_written)::bigint as pages
            from pg_stat_statements s join pg_roles r on r.oid = s.userid
            where r.rolname = '%s'
            group by query
            """
                .formatted(SERVICE),
            (row, number) ->
                costs.put(
                    row.getString("query"),
                    new Cost(row.getLong("calls"), row.getLong("rows"), row.getLong("pages"))));
    return costs;
  }

  @Override
  public void close() throws IOException {
    scenario.close();
    server.close();
  }
}
