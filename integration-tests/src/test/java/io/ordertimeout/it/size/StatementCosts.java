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
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A Postgres of its own that counts, for each statement of the service, the calls, the resulting
 * rows and the pages read (extension {@code pg_stat_statements}), and the rows scanned (extension
 * {@code auto_explain}). The service has a user of its own there, so what the test itself does is
 * not counted. Counts the statements of one scenario at a time.
 */
final class StatementCosts implements AutoCloseable {

  private static final String SERVICE = "service";

  /** What precedes a plan in the server's log. */
  private static final String PLAN = "plan:\n";

  /** The node of a plan that changes rows which other nodes have scanned. */
  private static final String CHANGE = "ModifyTable";

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

  /**
   * What the executed plans of a statement have scanned.
   *
   * @param calls how often it was executed
   * @param rows how many rows it was given in arrays and has returned in all
   * @param scanned how many rows of tables it visited in all, also those that a condition removed
   * @param pages how many pages of tables and indexes it read in all, from memory or disk
   */
  record Scans(long calls, long rows, long scanned, long pages) {

    /** Visited rows for each execution and each row that was given or returned. */
    double scannedPerRow() {
      return (double) scanned / (calls + rows);
    }

    private Scans plus(Scans other) {
      return new Scans(
          calls + other.calls, rows + other.rows, scanned + other.scanned, pages + other.pages);
    }
  }

  private final EmbeddedPostgres server;
  private final String bootstrapServers = TestEnvironment.shared().bootstrapServers();

  /** Where the server's log ended at the last reset, in bytes. */
  private long logStart;

  StatementCosts(Path directory) throws IOException {
    server = new EmbeddedPostgres(directory.resolve("postgres"), 0);
    server.start();
    JdbcTemplate admin =
        new JdbcTemplate(
            new DriverManagerDataSource(
                server.jdbcUrl(), EmbeddedPostgres.NAME, server.password()));
    // Nothing here is about durability, nor about the time that something takes.
    for (String setting :
        List.of(
            "fsync = off",
            // Statistics are gathered only when the test says so.
            "autovacuum = off",
            "shared_preload_libraries = pg_stat_statements, auto_explain",
            "logging_collector = on",
            "log_destination = jsonlog",
            "log_rotation_size = 0")) {
      admin.execute("alter system set " + setting);
    }
    admin.execute(
        "create role " + SERVICE + " superuser login password '" + server.password() + "'");
    server.stop();
    server.start();
    for (String setting :
        List.of(
            "log_min_duration = 0",
            "log_analyze = on",
            "log_buffers = on",
            "log_timing = off",
            "log_format = json",
            "log_parameter_max_length = 0")) {
      admin.execute("alter role " + SERVICE + " set auto_explain." + setting);
    }
  }

  /** Begins a scenario, with a database of its own. */
  Scenario begin() {
    Scenario scenario = Scenario.on(environment(EmbeddedPostgres.NAME), environment(SERVICE));
    scenario.database().execute("create extension pg_stat_statements");
    return scenario;
  }

  private TestEnvironment environment(String user) {
    return new TestEnvironment(bootstrapServers, server.jdbcUrl(), user, server.password());
  }

  /** Begins to count anew. */
  void reset(Database database) {
    database.text("select pg_stat_statements_reset()::text");
    logStart = logEnd(database);
  }

  /** The costs of the service's statements since the last {@link #reset}, by their text. */
  Map<String, Cost> read(Database database) {
    Map<String, Cost> costs = new TreeMap<>();
    database.query(
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

  /** What the plans of the service's statements have scanned since the last {@link #reset}. */
  Map<String, Scans> scans(Database database) {
    Map<String, Scans> scans = new TreeMap<>();
    database
        .text(
            "select pg_read_file(pg_current_logfile('jsonlog'), ?, ?)",
            logStart,
            logEnd(database) - logStart)
        .lines()
        .map(line -> JsonMapper.shared().readTree(line).path("message").asString())
        .filter(message -> message.contains(PLAN))
        .map(message -> message.substring(message.indexOf(PLAN) + PLAN.length()))
        .map(JsonMapper.shared()::readTree)
        .forEach(
            plan ->
                scans.merge(
                    plan.path("Query Text").asString(), scans(plan.path("Plan")), Scans::plus));
    return scans;
  }

  private static Scans scans(JsonNode plan) {
    Scans below = below(plan);
    long pages = plan.path("Shared Hit Blocks").asLong() + plan.path("Shared Read Blocks").asLong();
    return new Scans(1, below.rows + rows(plan, "Actual Rows"), below.scanned, pages);
  }

  private static Scans below(JsonNode node) {
    Scans sum = new Scans(0, 0, 0, 0);
    if (node.path("Node Type").asString().equals("Function Scan")) {
      sum = new Scans(0, rows(node, "Actual Rows"), 0, 0);
    } else if (node.has("Relation Name") && !node.path("Node Type").asString().equals(CHANGE)) {
      long visited =
          rows(node, "Actual Rows")
              + rows(node, "Rows Removed by Filter")
              + rows(node, "Rows Removed by Index Recheck");
      sum = new Scans(0, 0, visited, 0);
    }
    for (JsonNode child : node.path("Plans")) {
      sum = sum.plus(below(child));
    }
    return sum;
  }

  /** A plan states averages of its loops. */
  private static long rows(JsonNode node, String count) {
    return Math.round(node.path(count).asDouble() * node.path("Actual Loops").asLong());
  }

  private static long logEnd(Database database) {
    return database.count("select size from pg_stat_file(pg_current_logfile('jsonlog'))");
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
