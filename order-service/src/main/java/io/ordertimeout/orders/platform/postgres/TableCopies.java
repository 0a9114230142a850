package io.ordertimeout.orders.platform.postgres;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Objects;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;

/**
 * Empty copies of the service's tables, which take their place for the rest of a transaction:
 * Postgres looks for temporary tables first. Thread-safe.
 */
@Repository
public class TableCopies {

  private static final String TABLES =
      """
      select quote_ident(c.relname) from pg_class c
      where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
      order by 1
      """;

  private static final String COPY =
      "create temporary table %1$s (like %1$s including all) on commit drop";

  private final JdbcTemplate jdbc;

  TableCopies(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  /**
   * Creates the copies; needs a surrounding transaction, which is to be rolled back.
   *
   * @return the time of Postgres's clock
   */
  public Instant create() {
    List<String> tables = jdbc.queryForList(TABLES, String.class);
    tables.forEach(table -> jdbc.execute(COPY.formatted(table)));
    OffsetDateTime now = jdbc.queryForObject("select clock_timestamp()", OffsetDateTime.class);
    return Objects.requireNonNull(now).toInstant();
  }
}
