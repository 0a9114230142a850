package io.ordertimeout.orders.audit;

import static io.ordertimeout.orders.platform.postgres.ResultSets.parameter;
import static io.ordertimeout.orders.platform.postgres.ResultSets.requiredInstant;

import io.ordertimeout.orders.audit.OperatorAction.Kind;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The audit log, to which entries are only ever added. Thread-safe. */
@Repository
public class AuditLog {

  /**
   * The latest actions.
   *
   * @param afterId the id after which the actions were read
   * @param actions the actions by id
   */
  public record Recent(long afterId, List<OperatorAction> actions) {}

  /**
   * A request for an action.
   *
   * @param actor who asks
   * @param idempotencyKey the key by which the actor identifies repetitions; null for none
   * @param kind what is to be done
   * @param reason why
   * @param details what exactly is asked for; together with the kind it identifies the request
   */
  public record Request(
      String actor,
      @Nullable String idempotencyKey,
      Kind kind,
      String reason,
      Map<String, Object> details) {}

  /**
   * An earlier action and the details of its request.
   *
   * @param details what exactly was asked for
   */
  public record Earlier(OperatorAction action, @Nullable JsonNode details) {}

  private static final String COLUMNS =
      "id, at, actor, action, subject, reason, before, after, request";

  private static final String ADD =
      """
      insert into operator_action (
        actor, action, subject, reason, before, after, idempotency_key, request)
      values (
        :actor, :action, :subject, :reason, :before::jsonb, :after::jsonb, :idempotencyKey,
        :request::jsonb)
      returning %s
      """
          .formatted(COLUMNS);

  // Two requests with the same key must not both be the first.
  private static final String LOCK_KEY = "select pg_advisory_xact_lock(hashtextextended(?, 0))";

  private static final String BY_KEY =
      "select %s from operator_action where actor = ? and idempotency_key = ?".formatted(COLUMNS);

  private static final String BY_KEYS =
      """
      select a.* from unnest(:keys::text[]) as k(key)
      cross join lateral (
        select %s, idempotency_key from operator_action o
        where o.actor = :actor and o.idempotency_key = k.key
      ) a
      """
          .formatted(COLUMNS);

  private static final String LATEST_OF_EACH =
      """
      select a.* from unnest(:subjects::text[]) as s(subject)
      cross join lateral (
        select %s from operator_action o
        where o.subject = s.subject and o.action = :action
        order by o.id desc
        limit 1
      ) a
      """
          .formatted(COLUMNS);

  private static final String LATEST =
      """
      select %s from operator_action where subject = ? and action = ? order by id desc limit 1
      """
          .formatted(COLUMNS);

  private static final String OF_SUBJECT =
      "select %s from operator_action where subject = ? order by id".formatted(COLUMNS);

  // By an index on replays alone.
  private static final String REPLAYS =
      """
      select %s from operator_action
      where action = 'REPLAY_DEAD_LETTER' and after ->> 'orderId' = ? order by id
      """
          .formatted(COLUMNS);

  private static final String PAGE =
      """
      select %s from operator_action
      where id < :before and (:subject::text is null or subject = :subject)
      order by id desc limit :limit
      """
          .formatted(COLUMNS);

  private static final String AFTER =
      "select %s from operator_action where id > ? order by id limit ?".formatted(COLUMNS);

  // By the index on the time; ids ascend in time except for simultaneous actions.
  private static final String RECENT =
      """
      select b.after_id, a.*
      from (
        select least(?, coalesce((
          select id from operator_action where at < now() - make_interval(secs => ?)
          order by at desc limit 1), 0)) as after_id
      ) b
      left join lateral (
        select %s from operator_action where id > b.after_id order by id limit ?
      ) a on true
      order by a.id
      """
          .formatted(COLUMNS);

  /**
   * SQL query of a text that changes whenever actions are added. Actions become visible a little
   * out of order, so it covers the last thousand.
   */
  public static final String FINGERPRINT =
      """
      select concat_ws(' ', max(id), count(*), sum(extract(epoch from at)))
      from (select id, at from operator_action order by id desc limit 1000) a
      """;

  private static final String PURGE =
      """
      delete from operator_action where id = any(array(
        select id from operator_action where at < ? order by at limit ?))
      """;

  private final JdbcTemplate jdbc;
  private final JdbcClient client;
  private final JsonMapper json = JsonMapper.builder().build();

  AuditLog(JdbcTemplate jdbc, JdbcClient client) {
    this.jdbc = jdbc;
    this.client = client;
  }

  /** Adds an action, in the transaction of the change that it records. */
  public OperatorAction add(
      Request request, String subject, @Nullable Object before, @Nullable Object after) {
    return add(
        request.actor(),
        request.kind(),
        subject,
        request.reason(),
        text(before),
        text(after),
        request.idempotencyKey(),
        text(request.details()));
  }

  /** Adds an action that nobody requested, in the transaction of the change that it records. */
  public OperatorAction add(String actor, Kind kind, String subject, String reason) {
    return add(actor, kind, subject, reason, null, null, null, null);
  }

  private OperatorAction add(
      String actor,
      Kind kind,
      String subject,
      String reason,
      @Nullable String before,
      @Nullable String after,
      @Nullable String idempotencyKey,
      @Nullable String request) {
    return client
        .sql(ADD)
        .param("actor", actor)
        .param("action", kind.name())
        .param("subject", subject)
        .param("reason", reason)
        .param("before", before)
        .param("after", after)
        .param("idempotencyKey", idempotencyKey)
        .param("request", request)
        .query(this::action)
        .single();
  }

  /** Waits until no other transaction uses the same key of the same actor. */
  public void lock(String actor, String idempotencyKey) {
    jdbc.query(LOCK_KEY, row -> {}, actor.length() + ":" + actor + idempotencyKey);
  }

  /** Finds what the actor has done under the key. */
  public Optional<Earlier> find(String actor, String idempotencyKey) {
    return client
        .sql(BY_KEY)
        .param(actor)
        .param(idempotencyKey)
        .query((row, number) -> new Earlier(action(row, number), node(row.getString("request"))))
        .optional();
  }

  /** Finds what the actor has done under the keys; by key. */
  public Map<String, Earlier> find(String actor, Collection<String> idempotencyKeys) {
    Map<String, Earlier> found = new HashMap<>();
    client
        .sql(BY_KEYS)
        .param("actor", actor)
        .param("keys", idempotencyKeys.toArray(String[]::new))
        .query(
            row -> {
              found.put(
                  row.getString("idempotency_key"),
                  new Earlier(action(row, 0), node(row.getString("request"))));
            });
    return found;
  }

  /** Finds the latest action of a kind on each of the subjects; by subject. */
  public Map<String, OperatorAction> latest(Collection<String> subjects, Kind kind) {
    Map<String, OperatorAction> found = new HashMap<>();
    client
        .sql(LATEST_OF_EACH)
        .param("subjects", subjects.toArray(String[]::new))
        .param("action", kind.name())
        .query(
            row -> {
              found.put(row.getString("subject"), action(row, 0));
            });
    return found;
  }

  /** Finds the latest action of a kind on a subject. */
  public Optional<OperatorAction> latest(String subject, Kind kind) {
    return jdbc.query(LATEST, this::action, subject, kind.name()).stream().findFirst();
  }

  /** Returns all actions on a subject, the earliest first. */
  public List<OperatorAction> of(String subject) {
    return jdbc.query(OF_SUBJECT, this::action, subject);
  }

  /** Returns the replays of dead letters of an order, the earliest first. */
  public List<OperatorAction> replaysOf(String orderId) {
    return jdbc.query(REPLAYS, this::action, orderId);
  }

  /**
   * Returns at most {@code limit} actions with lower ids than {@code before}, the latest first.
   *
   * @param subject the subject of the actions; null for any
   */
  public List<OperatorAction> page(@Nullable String subject, long before, int limit) {
    return client
        .sql(PAGE)
        .param("before", before)
        .param("subject", subject)
        .param("limit", limit)
        .query(this::action)
        .list();
  }

  /** Returns at most {@code limit} actions with greater ids, the lowest first; O(result). */
  public List<OperatorAction> after(long id, int limit) {
    return jdbc.query(AFTER, this::action, id, limit);
  }

  /**
   * Returns the actions with greater ids than an id, and also those that are not older than an age;
   * O(result).
   */
  public Recent recent(long id, Duration age, int limit) {
    List<OperatorAction> actions = new ArrayList<>();
    List<Long> after =
        jdbc.query(
            RECENT,
            (row, number) -> {
              if (row.getObject("id") != null) {
                actions.add(action(row, number));
              }
              return row.getLong("after_id");
            },
            id,
            age.toMillis() / 1e3,
            limit);
    return new Recent(after.get(0), actions);
  }

  /** Deletes at most {@code limit} actions that were taken before a time; returns how many. */
  public int purge(Instant before, int limit) {
    return jdbc.update(PURGE, parameter(before), limit);
  }

  /** Returns whether an earlier request asked for the same. */
  public boolean isSame(Earlier earlier, Request request) {
    return earlier.action().kind() == request.kind()
        && json.readTree(json.writeValueAsString(request.details())).equals(earlier.details());
  }

  private @Nullable String text(@Nullable Object value) {
    return value == null ? null : json.writeValueAsString(value);
  }

  private @Nullable JsonNode node(@Nullable String text) {
    return text == null ? null : json.readTree(text);
  }

  private OperatorAction action(ResultSet row, int rowNumber) throws SQLException {
    return new OperatorAction(
        row.getLong("id"),
        requiredInstant(row, "at"),
        row.getString("actor"),
        Kind.valueOf(row.getString("action")),
        row.getString("subject"),
        row.getString("reason"),
        node(row.getString("before")),
        node(row.getString("after")));
  }
}
