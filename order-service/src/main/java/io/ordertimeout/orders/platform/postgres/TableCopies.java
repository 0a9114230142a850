package io.ordertimeout.orders.platform.postgres;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Objects;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;

/**
 * Empty copies of the service's tables, which take their place for the rest of a transaction:
 * Postgres looks for temporary tables first, whatever the search path was. Thread-safe.
 */
@Repository
public class TableCopies {

  // They are all in one schema, which need not be the first of the search path.
  private static final String TABLES =
      """
      select quote_ident(c.relname) from pg_class c
      where c.relkind = 'r' and c.relnamespace = (
        select o.relnamespace from pg_class o where o.oid = to_regclass('order_deadline'))
      order by 1
      """;

  private static final String COPY =
      "create temporary table %1$s (like %1$s including all) on commit drop";

  /** For this transaction alone. */
  private static final String FIND_COPIES_FIRST =
      "select set_config('search_path', 'pg_temp, ' || current_setting('search_path'), true)";

  private static final String NOT_COPIED =
      """
      select t.name from unnest(?::text[]) as t(name)
      where not exists (
        select from pg_class c where c.oid = to_regclass(t.name) and c.relpersistence = 't')
      """;

  private final JdbcTemplate jdbc;

  TableCopies(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  /**
   * Creates the copies; needs a surrounding transaction, which is to be rolled back.
   *
   * @return the time of Postgres's clock
   * @throws IllegalStateException if the name of a table does not lead to its copy
   */
  public Instant create() {
    List<String> tables = jdbc.queryForList(TABLES, String.class);
    if (tables.isEmpty()) {
      throw new IllegalStateException("Postgres's search path leads to no table of the service");
    }
    tables.forEach(table -> jdbc.execute(COPY.formatted(table)));
    jdbc.queryForObject(FIND_COPIES_FIRST, String.class);
    List<String> notCopied =
        jdbc.queryForList(NOT_COPIED, String.class, (Object) tables.toArray(String[]::new));
    if (!notCopied.isEmpty()) {
      throw new IllegalStateException("these names do not lead to temporary tables: " + notCopied);
    }
    OffsetDateTime now = jdbc.queryForObject("select clock_timestamp()", OffsetDateTime.class);
    return Objects.requireNonNull(now).toInstant();
  }
}
