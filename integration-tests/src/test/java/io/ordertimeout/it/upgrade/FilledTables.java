package io.ordertimeout.it.upgrade;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Database;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The rows of a version's tables, which the next version has to keep. */
final class FilledTables {

  /** Their rows change all the time; whether orders are right, the oracle judges. */
  private static final Set<String> CHANGING =
      Set.of(
          "outbox",
          "order_deadline",
          "payment_without_effect",
          "intake_position",
          "published_position",
          "purge_horizon",
          "partition_count",
          "shard_heartbeat",
          "instance_report",
          "activity",
          "consumer_group_generation");

  /** What no traffic of a few seconds causes. */
  private static final List<String> RARE_ROWS =
      List.of(
          """
          insert into suspension (
            shard, placed_by_kind, placed_by, reason, moves_deadlines, ended_at, ended_by)
          values (0, 'SERVICE', 'service', 'an earlier loss', false, now(), 'operator')
          """,
          """
          insert into suspension (placed_by_kind, placed_by, reason, moves_deadlines, ended_at)
          values ('OPERATOR', 'operator', 'over', false, now())
          """,
          """
          insert into operator_action (actor, action, subject, reason, before, after)
          values ('operator', 'EXTEND_ORDER', 'an unknown one', 'why', '{}', '{}')
          """,
          "insert into shard_outage (shard, began_at, ended_at) values (0, now() - interval '2 d', now() - interval '1 d')",
          """
          insert into payment_without_effect (order_id, payment_id, paid_at)
          values ('an unknown one', 'p', now())
          """,
          """
          insert into intake_stop (
            topic, began_at, seen_at, unusable, records, first_position, first_fault)
          values ('some-topic', now(), now(), 60, 100, 'some-topic-0@7', 'no JSON')
          """,
          """
          insert into console_session (primary_id, session_id, creation_time, last_access_time,
            max_inactive_interval, expiry_time, principal_name)
          values ('an id', 'a session', 0, 0, 28800, 9223372036854775807, 'operator')
          """,
          """
          insert into console_session_attributes (
            session_primary_id, attribute_name, attribute_bytes)
          values ('an id', 'name', 'value')
          """);

  private static final String TABLES =
      """
      select tablename from pg_tables
      where schemaname = current_schema() and tablename <> 'flyway_schema_history'
      """;

  private final Database database;
  private final Map<String, List<JsonNode>> rows = new LinkedHashMap<>();

  private FilledTables(Database database) {
    this.database = database;
  }

  /** Adds rows that are rare, and remembers all rows that do not change by themselves. */
  static FilledTables fill(Database database) {
    RARE_ROWS.forEach(database::execute);
    FilledTables filled = new FilledTables(database);
    Set<String> empty = new TreeSet<>();
    for (String table : filled.tables()) {
      List<JsonNode> found = filled.rows(table);
      if (found.isEmpty()) {
        empty.add(table);
      }
      if (!CHANGING.contains(table)) {
        filled.rows.put(table, found);
      }
    }
    assertThat(empty).as("tables without a row").isEmpty();
    return filled;
  }

  /** Fails unless each row is there, with the same values in the columns that it had. */
  void assertKept() {
    rows.forEach(
        (table, before) -> {
          List<JsonNode> after = rows(table);
          assertThat(before)
              .as(table)
              .allSatisfy(row -> assertThat(after).anyMatch(now -> contains(now, row)));
        });
  }

  /** What was not known, such as the time of a publication, may be known by now. */
  private static boolean contains(JsonNode now, JsonNode before) {
    return before
        .propertyStream()
        .filter(value -> !value.getValue().isNull())
        .allMatch(value -> value.getValue().equals(now.get(value.getKey())));
  }

  private Set<String> tables() {
    return database.query(TABLES, (row, number) -> row.getString(1)).stream()
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private List<JsonNode> rows(String table) {
    return database.query(
        "select to_jsonb(t)::text from " + table + " t",
        (row, number) -> JsonMapper.shared().readTree(row.getString(1)));
  }
}
