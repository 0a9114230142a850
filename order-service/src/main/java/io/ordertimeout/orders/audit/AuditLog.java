package io.ordertimeout.orders.audit;

import io.ordertimeout.orders.audit.OperatorAction.Kind;
import io.ordertimeout.orders.operator.ChangeRequest;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The table of what operators did; rows are only ever added. Thread-safe. */
@Repository
public class AuditLog {

  /** An action of earlier, and what was asked for then. */
  public record Repeated(OperatorAction action, JsonNode request) {}

  private static final String COLUMNS =
      "id, at, actor, action, subject, reason, before, after, request";

  private static final String ADD =
      """
      insert into operator_action (
        actor, action, subject, reason, before, after, idempotency_key, request)
      values (?, ?, ?, ?, ?::jsonb, ?::jsonb, ?, ?::jsonb)
      returning %s
      """
          .formatted(COLUMNS);

  // Two requests under one key must not both be the first.
  private static final String LOCK_KEY = "select pg_advisory_xact_lock(hashtextextended(?, 0))";

  private static final String BY_KEY =
      "select %s from operator_action where actor = ? and idempotency_key = ?".formatted(COLUMNS);

  private static final String LATEST =
      """
      select %s from operator_action where subject = ? and action = ? order by id desc limit 1
      """
          .formatted(COLUMNS);

  private static final String OF =
      "select %s from operator_action where subject = ? order by id".formatted(COLUMNS);

  private static final String PAGE =
      """
      select %s from operator_action
      where id < ? and (?::text is null or subject = ?) order by id desc limit ?
      """
          .formatted(COLUMNS);

  private final JdbcTemplate jdbc;
  private final JsonMapper json = JsonMapper.builder().build();

  AuditLog(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  /** Adds an action; to be called in the transaction of its change. */
  public OperatorAction add(
      ChangeRequest wish, String subject, @Nullable Object before, @Nullable Object after) {
    return Objects.requireNonNull(
        jdbc.queryForObject(
            ADD,
            this::action,
            wish.actor(),
            wish.kind().name(),
            subject,
            wish.reason(),
            before == null ? null : json.writeValueAsString(before),
            after == null ? null : json.writeValueAsString(after),
            wish.idempotencyKey(),
            json.writeValueAsString(wish.details())));
  }

  /** Waits until no other transaction asks for the same key of the same actor. */
  public void lock(String actor, String idempotencyKey) {
    jdbc.query(LOCK_KEY, rs -> {}, actor.length() + ":" + actor + idempotencyKey);
  }

  /** What the actor did under the key. */
  public Optional<Repeated> find(String actor, String idempotencyKey) {
    return jdbc
        .query(
            BY_KEY,
            (rs, row) -> new Repeated(action(rs, row), json.readTree(rs.getString("request"))),
            actor,
            idempotencyKey)
        .stream()
        .findFirst();
  }

  /** The last thing of a kind that was done to a subject. */
  public Optional<OperatorAction> latest(String subject, Kind kind) {
    return jdbc.query(LATEST, this::action, subject, kind.name()).stream().findFirst();
  }

  /** All that was done to a subject, in order. */
  public List<OperatorAction> of(String subject) {
    return jdbc.query(OF, this::action, subject);
  }

  /** At most {@code limit} actions with a lower number, the latest first. */
  public List<OperatorAction> page(@Nullable String subject, long before, int limit) {
    return jdbc.query(PAGE, this::action, before, subject, subject, limit);
  }

  /** Whether two requests ask for the same. */
  public boolean isSame(JsonNode request, ChangeRequest wish) {
    return request.equals(json.readTree(json.writeValueAsString(wish.details())));
  }

  private OperatorAction action(ResultSet rs, int rowNumber) throws SQLException {
    String before = rs.getString("before");
    String after = rs.getString("after");
    return new OperatorAction(
        rs.getLong("id"),
        rs.getObject("at", OffsetDateTime.class).toInstant(),
        rs.getString("actor"),
        Kind.valueOf(rs.getString("action")),
        rs.getString("subject"),
        rs.getString("reason"),
        before == null ? null : json.readTree(before),
        after == null ? null : json.readTree(after));
  }
}
