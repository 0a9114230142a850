package io.ordertimeout.orders.access.session;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import io.ordertimeout.orders.platform.postgres.Purgeable;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import javax.sql.DataSource;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.core.convert.support.GenericConversionService;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.session.FindByIndexNameSessionRepository;
import org.springframework.session.Session;
import org.springframework.session.jdbc.JdbcIndexedSessionRepository;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The sessions in Postgres, through connections of their own: requests with made-up session ids
 * must not occupy those that decisions need, and an operator must not wait for these. Thread-safe.
 */
final class SessionStore implements Purgeable, AutoCloseable {

  private static final String TABLE = "console_session";
  private static final String POOL = "sessions";
  private static final int CONNECTIONS = 2;
  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final Duration CLOSED_WHEN_UNUSED = Duration.ofMinutes(1);

  private final HikariDataSource connections;
  private final JdbcIndexedSessionRepository repository;

  /**
   * Creates it. Nothing is connected before the first use.
   *
   * @param main the connections of the rest of the service, whose settings these have, too
   * @param timeout how long a session lasts without a request
   */
  SessionStore(DataSource main, Duration timeout) {
    connections = connections(main);
    repository =
        new JdbcIndexedSessionRepository(
            new JdbcTemplate(connections),
            new TransactionTemplate(new JdbcTransactionManager(connections)));
    repository.setTableName(TABLE);
    repository.setDefaultMaxInactiveInterval(timeout);
    repository.setConversionService(texts());
    // Expired sessions are deleted by the purge, whose failures are reported like all others.
    repository.setCleanupCron(Scheduled.CRON_DISABLED);
    repository.afterPropertiesSet();
  }

  private static HikariDataSource connections(DataSource main) {
    HikariConfig config = new HikariConfig();
    Objects.requireNonNull(
            DataSourceUnwrapper.unwrap(main, HikariConfigMXBean.class, HikariDataSource.class),
            "the connections come from Hikari's pool")
        .copyStateTo(config);
    config.setPoolName(POOL);
    config.setMaximumPoolSize(CONNECTIONS);
    config.setMinimumIdle(0);
    config.setIdleTimeout(CLOSED_WHEN_UNUSED.toMillis());
    config.setConnectionTimeout(PATIENCE.toMillis());
    return new HikariDataSource(config);
  }

  /** Attributes are texts, which any version of the service can read. */
  private static GenericConversionService texts() {
    GenericConversionService texts = new GenericConversionService();
    texts.addConverter(
        Object.class, byte[].class, value -> value.toString().getBytes(StandardCharsets.UTF_8));
    texts.addConverter(
        byte[].class, Object.class, bytes -> new String(bytes, StandardCharsets.UTF_8));
    return texts;
  }

  FindByIndexNameSessionRepository<? extends Session> sessions() {
    return repository;
  }

  /** Deletes what has expired; O(what is deleted) by an index. */
  @Override
  public void purge() {
    repository.cleanUpExpiredSessions();
  }

  @Override
  public void close() {
    repository.destroy();
    connections.close();
  }
}
