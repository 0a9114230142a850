package io.ordertimeout.orders.platform.postgres;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The check that the data source leads to a server that accepts writes. Thread-safe. */
@Component
public class WritableServer {

  private static final String READ_ONLY =
      "select pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean";

  private final JdbcClient client;

  WritableServer(JdbcClient client) {
    this.client = client;
  }

  /**
   * Checks the server that answers now.
   *
   * @throws PostgresUnavailableException if it accepts no writes; it may do so later, once it is
   *     promoted
   */
  public void require() {
    if (client.sql(READ_ONLY).query(Boolean.class).single()) {
      throw new PostgresUnavailableException(
          "Postgres accepts no writes: spring.datasource.url leads to a standby, or to a server that"
              + " is configured as read-only. Nothing is read or decided until it leads to the"
              + " primary; a URL with several hosts needs targetServerType=primary");
    }
  }
}
