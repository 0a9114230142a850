package io.ordertimeout.orders.platform.postgres;

import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The check that Postgres applies the session settings of this service's connections, which a
 * connection pooler in between may drop. Thread-safe.
 */
@Component
public class SessionSettings {

  private static final String OPTIONS = "spring.datasource.hikari.data-source-properties.options";
  private static final String TIME_OUT = "statement_timeout";

  private final JdbcClient client;
  private final boolean timeOutIsSet;

  SessionSettings(JdbcClient client, Environment environment) {
    this.client = client;
    String options = environment.getProperty(OPTIONS, "");
    this.timeOutIsSet = options.contains(TIME_OUT + "=") && !options.contains(TIME_OUT + "=0");
  }

  /**
   * Checks the settings of a session.
   *
   * @throws PostgresUnavailableException if they were dropped
   */
  public void require() {
    if (timeOutIsSet
        && client
            .sql("select current_setting('statement_timeout') = '0'")
            .query(Boolean.class)
            .single()) {
      throw new PostgresUnavailableException(
          "Postgres's sessions have no statement_timeout, although "
              + OPTIONS
              + " sets it: a connection pooler between drops the settings. Nothing is read or decided,"
              + " because a hanging statement would never end. Connect to Postgres directly, as this"
              + " service has a pool of its own, or use a pooler that keeps sessions and start-up"
              + " parameters");
    }
  }
}
