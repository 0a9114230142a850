package io.ordertimeout.orders.platform.postgres;

import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.sql.SQLTransientException;
import java.util.Properties;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.springframework.boot.flyway.autoconfigure.FlywayMigrationStrategy;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.stereotype.Component;

/**
 * Migrates the schema before anything reads or writes it. Unlike Spring Boot, it does not migrate
 * while the context starts: if Postgres is unavailable, the service waits for it, and health and
 * metrics are served meanwhile. Thread-safe.
 */
@Component
public class SchemaMigration {

  /** Prevents Spring Boot from migrating at startup. */
  @Configuration(proxyBeanMethods = false)
  static class MigrateLater {

    @Bean
    FlywayMigrationStrategy migrateLater() {
      return flyway -> {};
    }
  }

  /**
   * Without time-outs, whatever the pool's options are: a migration may rewrite tables, and it
   * keeps a lock in a transaction that is idle meanwhile. It may also scan and join whole tables.
   */
  private static final String SETTINGS =
      """
      set statement_timeout = 0;
      set idle_in_transaction_session_timeout = 0;
      set enable_seqscan = on;
      set enable_bitmapscan = on;
      set enable_hashjoin = on;
      set enable_mergejoin = on;
      """;

  private final Flyway flyway;
  private final DataSource dataSource;
  private volatile boolean migrated;

  SchemaMigration(Flyway flyway, DataSource dataSource) {
    this.flyway = flyway;
    this.dataSource = dataSource;
  }

  /**
   * Migrates the schema, unless it is migrated already.
   *
   * @throws PostgresUnavailableException if Postgres could not be reached or did not answer
   * @throws RuntimeException if the migration failed with an error that a retry cannot fix
   */
  public synchronized void migrate() {
    if (migrated) {
      return;
    }
    try {
      migrateWithoutTimeouts();
    } catch (RuntimeException e) {
      throw isUnavailable(e) ? new PostgresUnavailableException(e) : e;
    }
    migrated = true;
  }

  private void migrateWithoutTimeouts() {
    HikariDataSource pool =
        DataSourceUnwrapper.unwrap(dataSource, HikariConfigMXBean.class, HikariDataSource.class);
    if (pool == null || pool.getJdbcUrl() == null) {
      flyway.migrate();
      return;
    }
    Properties properties = new Properties();
    properties.putAll(pool.getDataSourceProperties());
    properties.put("socketTimeout", "0");
    DriverManagerDataSource connections =
        new DriverManagerDataSource(pool.getJdbcUrl(), properties);
    connections.setUsername(pool.getUsername());
    connections.setPassword(pool.getPassword());
    Flyway.configure()
        .configuration(flyway.getConfiguration())
        .dataSource(connections)
        .initSql(SETTINGS)
        .load()
        .migrate();
  }

  /** Whether the schema is migrated; before that, no other part of this instance may use it. */
  public boolean isMigrated() {
    return migrated;
  }

  private static boolean isUnavailable(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql && isUnavailable(sql)) {
        return true;
      }
    }
    return false;
  }

  /**
   * SQL states of connection failures, exhausted resources (such as connections), startup, shutdown
   * and read-only mode, and the connection pool's time-outs, which have no SQL state.
   *
   * @see <a href="https://www.postgresql.org/docs/18/errcodes-appendix.html">Error codes</a>
   */
  private static boolean isUnavailable(SQLException failure) {
    String state = failure.getSQLState();
    if (state == null) {
      return failure instanceof SQLTransientException && failure.getCause() == null;
    }
    return state.startsWith("08")
        || state.startsWith("53")
        || state.startsWith("57P")
        || state.equals("25006");
  }
}
