package io.ordertimeout.it.support;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** The database of one scenario, read and changed without the service. */
public final class Database {

  /** Postgres copies a database that nobody is connected to faster than Flyway migrates one. */
  private static final Map<String, String> MIGRATED = new ConcurrentHashMap<>();

  private static final int VALIDATION_SECONDS = 5;

  private final TestEnvironment environment;
  private final String name;
  private final ReusedConnection connection;
  private final JdbcTemplate jdbc;

  private Database(TestEnvironment environment, String name) {
    this.environment = environment;
    this.name = name;
    this.connection = new ReusedConnection(environment, url());
    this.jdbc = new JdbcTemplate(connection);
  }

  /** Creates a database that holds the service's schema, as a copy of one that was migrated. */
  public static Database create(TestEnvironment environment, String name) {
    String migrated =
        MIGRATED.computeIfAbsent(environment.jdbcUrl(), url -> createMigrated(environment));
    admin(environment).execute("create database " + name + " template " + migrated);
    return new Database(environment, name);
  }

  /** Creates a database without any tables. */
  public static Database createEmpty(TestEnvironment environment, String name) {
    admin(environment).execute("create database " + name);
    return new Database(environment, name);
  }

  private static String createMigrated(TestEnvironment environment) {
    String name = "migrated";
    admin(environment).execute("create database " + name);
    Flyway.configure()
        .dataSource(
            url(environment.jdbcUrl(), name), environment.username(), environment.password())
        .load()
        .migrate();
    return name;
  }

  public void drop() {
    connection.destroy();
    admin(environment).execute("drop database " + name + " with (force)");
  }

  String name() {
    return name;
  }

  public String url() {
    return url(environment.jdbcUrl(), name);
  }

  /** Opens connections that are not kept. */
  public DataSource source() {
    return new DriverManagerDataSource(url(), environment.username(), environment.password());
  }

  /** Opens a connection of the caller's own, for transactions. */
  public Connection connect() throws SQLException {
    return DriverManager.getConnection(url(), environment.username(), environment.password());
  }

  /** Postgres's clock. */
  public Instant now() {
    return Objects.requireNonNull(
            jdbc.queryForObject("select clock_timestamp()", OffsetDateTime.class))
        .toInstant();
  }

  /**
   * Returns the text of a column of an order's row, or of an expression of columns; null if the row
   * or the value is missing.
   */
  public @Nullable String column(String orderId, String column) {
    List<@Nullable String> values =
        jdbc.queryForList(
            "select (" + column + ")::text from order_deadline where order_id = ?",
            String.class,
            orderId);
    return values.isEmpty() ? null : values.get(0);
  }

  /** The state of an order; null if the service does not know it. */
  public @Nullable String state(String orderId) {
    return column(orderId, "state");
  }

  public @Nullable Instant deadline(String orderId) {
    List<OffsetDateTime> values =
        jdbc.queryForList(
            "select deadline from order_deadline where order_id = ? and deadline is not null",
            OffsetDateTime.class,
            orderId);
    return values.isEmpty() ? null : values.get(0).toInstant();
  }

  /** The states of all orders, by order id. */
  public Map<String, String> states() {
    List<Map.Entry<String, String>> rows =
        jdbc.query(
            "select order_id, state from order_deadline",
            (rs, row) -> Map.entry(rs.getString("order_id"), rs.getString("state")));
    return rows.stream().collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  public long pending() {
    return count("select count(*) from order_deadline where state = 'PENDING'");
  }

  /** The number of events that are not published. */
  public long unpublished() {
    return count("select count(*) from outbox where published_at is null");
  }

  /** Runs a statement and returns the number of changed rows. */
  public int execute(String statement, Object... arguments) {
    return jdbc.update(statement, arguments);
  }

  /** Returns the single text that the query selects. */
  public String text(String query, Object... arguments) {
    return Objects.requireNonNull(jdbc.queryForObject(query, String.class, arguments));
  }

  /** Returns the single number that the query selects. */
  public long count(String query, Object... arguments) {
    return Objects.requireNonNull(jdbc.queryForObject(query, Long.class, arguments));
  }

  /**
   * Makes all pending orders due now. Running services do not notice it; those that start later do.
   */
  public void makePendingDue() {
    jdbc.update("update order_deadline set deadline = clock_timestamp() where state = 'PENDING'");
  }

  /** Inserts an order as a crash between its decision and its publication leaves it. */
  public void decideWithoutPublishing(
      String orderId, int shard, Instant createdAt, Instant deadline) {
    jdbc.update(
        """
        with cancelled as (
          insert into order_deadline (
            order_id, shard, state, created_at, deadline, policy, decided_at, decided_by)
          values (
            ?, ?, 'CANCELLED', ?::timestamptz, ?::timestamptz, 'DEFAULT',
            clock_timestamp(), 'EXPIRY')
          returning id, shard, decided_at
        )
        insert into outbox (order_row, shard, written_at)
        select id, shard, decided_at from cancelled
        """,
        orderId,
        shard,
        createdAt.toString(),
        deadline.toString());
  }

  /** Inserts a settled order with a publication and a payment conflict, which ended then, too. */
  public void settleInThePast(String orderId, String state, Instant decidedAt, Instant deadline) {
    jdbc.update(
        """
        with settled as (
          insert into order_deadline (
            order_id, shard, state, created_at, deadline, decided_at, decided_by)
          values (
            ?, 0, ?, ?::timestamptz - interval '1 h', ?::timestamptz, ?::timestamptz,
            case ? when 'PAID' then 'PAYMENT' when 'CLOSED' then 'CLOSING' else 'EXPIRY' end)
          returning id, shard, decided_at
        )
        insert into outbox (order_row, payment_id, shard, written_at, published_at, resolved_at)
        select id, payment, shard, decided_at, decided_at, decided_at
        from settled cross join unnest(array['', 'p']) as payment
        """,
        orderId,
        state,
        decidedAt.toString(),
        deadline.toString(),
        decidedAt.toString(),
        state);
  }

  public long conflicts() {
    return count("select count(*) from outbox where payment_id <> ''");
  }

  public <T> List<T> query(String query, RowMapper<T> mapper) {
    return jdbc.query(query, mapper);
  }

  /** Statements in the database that the environment names. */
  static JdbcTemplate admin(TestEnvironment environment) {
    return new JdbcTemplate(
        new DriverManagerDataSource(
            environment.jdbcUrl(), environment.username(), environment.password()));
  }

  /**
   * Keeps a connection open, since tests poll and each log-in costs more than their queries, and
   * replaces it when it is broken.
   */
  private static final class ReusedConnection extends SingleConnectionDataSource {

    ReusedConnection(TestEnvironment environment, String url) {
      super(url, environment.username(), environment.password(), true);
    }

    @Override
    public Connection getConnection() throws SQLException {
      Connection connection = super.getConnection();
      if (connection.isValid(VALIDATION_SECONDS)) {
        return connection;
      }
      resetConnection();
      return super.getConnection();
    }
  }

  public static String url(String url, String database) {
    return url.replaceFirst("^(jdbc:postgresql://[^/]+/)[^?]*", "$1" + database);
  }
}
