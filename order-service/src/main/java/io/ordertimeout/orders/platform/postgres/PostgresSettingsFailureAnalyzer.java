package io.ordertimeout.orders.platform.postgres;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.Environment;

/** Reports at startup, in words instead of a stack trace, what Postgres refuses to its user. */
final class PostgresSettingsFailureAnalyzer extends AbstractFailureAnalyzer<SQLException> {

  private static final String STOPS = ". No order can be stored or cancelled, so the start ends.";

  private final Environment environment;

  PostgresSettingsFailureAnalyzer(Environment environment) {
    this.environment = environment;
  }

  /** The URL is not part of the message, because it may contain a password. */
  @Override
  protected @Nullable FailureAnalysis analyze(Throwable rootFailure, SQLException cause) {
    String user = environment.getProperty("spring.datasource.username", "");
    String state = cause.getSQLState();
    if (state == null) {
      return null;
    }
    return switch (state) {
      case "28P01", "28000" ->
          new FailureAnalysis(
              "Postgres rejects the log-in of spring.datasource.username="
                  + user
                  + ": "
                  + cause.getMessage()
                  + STOPS,
              "Correct spring.datasource.username and spring.datasource.password, or let the user"
                  + " log in: its password in Postgres, and pg_hba.conf.",
              cause);
      case "42501" ->
          new FailureAnalysis(
              "The Postgres user of spring.datasource.username="
                  + user
                  + " lacks a privilege: "
                  + cause.getMessage()
                  + STOPS,
              "Make this user the owner of the service's schema and tables, because it also migrates"
                  + " them, or set spring.datasource.username to their owner.",
              cause);
      case "3D000" ->
          new FailureAnalysis(
              "spring.datasource.url names an unknown database: " + cause.getMessage() + STOPS,
              "Create the database, or correct its name in spring.datasource.url.",
              cause);
      default -> null;
    };
  }
}
