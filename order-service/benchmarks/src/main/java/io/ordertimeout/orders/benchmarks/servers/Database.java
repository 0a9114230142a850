package io.ordertimeout.orders.benchmarks.servers;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * A database, and the user with whom a contender uses it. The benchmark itself uses another one.
 *
 * @param url its JDBC URL
 * @param user the contender's user
 * @param password the password of both users
 * @param admin a client with the benchmark's user, with a connection for each statement
 */
public record Database(String url, String user, String password, JdbcClient admin) {

  static Database of(String url, String user, String adminUser, String password) {
    return new Database(
        url,
        user,
        password,
        JdbcClient.create(new DriverManagerDataSource(url, adminUser, password)));
  }

  /** Opens a pool of connections with the contender's user. */
  public HikariDataSource open(int connections) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setUsername(user);
    config.setPassword(password);
    config.setMaximumPoolSize(connections);
    return new HikariDataSource(config);
  }

  /** Omits the password. */
  @Override
  public String toString() {
    return "Database[" + url + "]";
  }
}
