package io.ordertimeout.orders.platform.postgres;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
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

  /** {@code -c name=value} or {@code --name=value}, where a backslash escapes a space. */
  private static final Pattern OPTION = Pattern.compile("(?:-c\\s*|--)([\\w.-]+)=((?:\\\\.|\\S)*)");

  /**
   * Postgres compares the values, because it writes them in units of its own. The first part is
   * evaluated before the second one changes anything, which lasts until the end of the statement.
   */
  private static final String DIFFERING =
      """
      with session as materialized (
        select name, wanted, current_setting(name) as value
        from unnest(?::text[], ?::text[]) as option(name, wanted)
      )
      select name || '=' || value || ' instead of ' || wanted
      from session
      where set_config(name, wanted, true) <> value
      """;

  private final JdbcClient client;
  private final Map<String, String> wanted;

  SessionSettings(JdbcClient client, Environment environment) {
    this.client = client;
    this.wanted = parse(environment.getProperty(OPTIONS, ""));
  }

  /** Parses the start-up parameter {@code options}. The last value of a name counts. */
  static Map<String, String> parse(String options) {
    return OPTION
        .matcher(options)
        .results()
        .collect(
            Collectors.toMap(
                option -> option.group(1).replace('-', '_'),
                option -> option.group(2).replaceAll("\\\\(.)", "$1"),
                (first, last) -> last,
                LinkedHashMap::new));
  }

  /**
   * Checks the settings of a session.
   *
   * @throws PostgresUnavailableException if they were dropped
   */
  public void require() {
    List<String> differing =
        client
            .sql(DIFFERING)
            .param(wanted.keySet().toArray(String[]::new))
            .param(wanted.values().toArray(String[]::new))
            .query(String.class)
            .list();
    if (!differing.isEmpty()) {
      throw new PostgresUnavailableException(
          "Postgres's sessions do not have the settings of "
              + OPTIONS
              + ": "
              + String.join(", ", differing)
              + ". A connection pooler between drops them. Nothing is read or decided, because"
              + " a statement could hang or read a whole table. Connect to Postgres directly, as this"
              + " service has a pool of its own, or use a pooler that keeps sessions, and give the"
              + " settings to the role");
    }
  }
}
