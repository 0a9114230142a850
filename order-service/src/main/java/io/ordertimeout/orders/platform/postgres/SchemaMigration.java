package io.ordertimeout.orders.platform.postgres;

import java.sql.SQLException;
import java.sql.SQLTransientException;
import org.flywaydb.core.Flyway;
import org.springframework.boot.flyway.autoconfigure.FlywayMigrationStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.stereotype.Component;

/**
 * The tables, brought up to date before anything reads or writes them. Not while the context
 * starts, as Spring Boot has it: a Postgres that is away is waited for, with health and metrics
 * answering meanwhile. Thread-safe.
 */
@Component
public class SchemaMigration {

  /** Keeps Spring Boot from migrating at the start. */
  @Configuration(proxyBeanMethods = false)
  static class MigrateLater {

    @Bean
    FlywayMigrationStrategy migrateLater() {
      return flyway -> {};
    }
  }

  private final Flyway flyway;
  private volatile boolean migrated;

  SchemaMigration(Flyway flyway) {
    this.flyway = flyway;
  }

  /**
   * Migrates once; later calls return at once.
   *
   * @throws PostgresUnavailableException if Postgres could not be reached or did not answer
   * @throws RuntimeException if it refused, which waiting does not mend
   */
  public synchronized void migrate() {
    if (migrated) {
      return;
    }
    try {
      flyway.migrate();
    } catch (RuntimeException e) {
      throw isAway(e) ? new PostgresUnavailableException(e) : e;
    }
    migrated = true;
  }

  /** Whether the tables are there; nothing of this instance reads them before. */
  public boolean isMigrated() {
    return migrated;
  }

  private static boolean isAway(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql && isAway(sql)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Connection exceptions, too many connections, starting up or shutting down, read-only; and those
   * of the pool, which come without a state.
   *
   * @see <a href="https://www.postgresql.org/docs/18/errcodes-appendix.html">Error codes</a>
   */
  private static boolean isAway(SQLException failure) {
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
