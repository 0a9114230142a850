package io.ordertimeout.orders.suspension;

import static io.ordertimeout.orders.platform.postgres.ResultSets.instant;
import static io.ordertimeout.orders.platform.postgres.ResultSets.parameter;
import static io.ordertimeout.orders.platform.postgres.ResultSets.requiredInstant;
import static io.ordertimeout.orders.suspension.SuspensionConditions.CONCERNS;
import static io.ordertimeout.orders.suspension.SuspensionConditions.END;
import static io.ordertimeout.orders.suspension.SuspensionConditions.IS_IN_FORCE;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.audit.AuditLog;
import io.ordertimeout.orders.audit.OperatorAction.Kind;
import io.ordertimeout.orders.platform.loop.PeriodicTasks;
import io.ordertimeout.orders.platform.postgres.CachedRead;
import io.ordertimeout.orders.platform.postgres.ChangeDetector;
import io.ordertimeout.orders.platform.postgres.SchemaMigration;
import io.ordertimeout.orders.suspension.Suspension.PlacedBy;
import io.ordertimeout.orders.suspension.Suspension.Scope;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Pauses and holds: while one is in force, no instance cancels an order that it concerns. Restarts
 * do not end it.
 *
 * <p>The deciding statement checks the table itself, and a pause waits for those that are running
 * before it is placed, so it takes effect when it is committed. The copy in memory, at most two
 * seconds old, avoids statements that could not cancel anything, and what a failover loses is
 * placed again from it. Thread-safe.
 */
@Repository
public class Suspensions {

  private static final Logger log = LoggerFactory.getLogger(Suspensions.class);

  private static final Duration INTERVAL = Duration.ofMillis(500);

  /**
   * How long a pause waits for the deciding statements that are running; later ones wait for it.
   */
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

  private static final String LIMIT_WAIT = "set local lock_timeout = " + LONGEST_WAIT.toMillis();

  // Readers are not excluded; others that place suspensions are.
  private static final String EXCLUDE_DECISIONS = "lock table suspension in exclusive mode";

  /** Postgres's state for a lock that it did not get in time. */
  private static final String LOCK_NOT_AVAILABLE = "55P03";

  /** Who places holds, and the actor of the audit log for pauses that are placed again. */
  private static final String SERVICE = "service";

  private static final String COLUMNS =
      """
      s.id, s.channel, s.shard, s.placed_by_kind, s.placed_by, s.reason, s.moves_deadlines,
      s.began_at, s.ends_at, s.ended_at, s.ended_by
      """;

  // The circuit breakers of several instances may trip at the same time; one pause is enough.
  private static final String PLACE =
      """
      insert into suspension as s (
        channel, placed_by_kind, placed_by, reason, moves_deadlines, ends_at)
      values (:channel, :placedByKind, :placedBy, :reason, :movesDeadlines, :endsAt::timestamptz)
      on conflict do nothing
      returning %s
      """
          .formatted(COLUMNS);

  private static final String HOLD =
      """
      insert into suspension as s (shard, placed_by_kind, placed_by, reason, moves_deadlines)
      select lost.shard, 'SERVICE', :placedBy, :reason, false
      from unnest(:shards::int[]) as lost(shard)
      where not exists (
        select from suspension s where %s and s.shard = lost.shard and s.reason = :reason)
      returning %s
      """
          .formatted(IS_IN_FORCE, COLUMNS);

  // By its content, for its number may have been given to another one, or another instance may have
  // placed it again under another number. The reason for a hold may have been found again, too. The
  // index bounds the comparison.
  private static final String PLACE_AGAIN =
      """
      insert into suspension as s (
        channel, shard, placed_by_kind, placed_by, reason, moves_deadlines, began_at, ends_at)
      select l.* from (
        values (
          :channel::text, :shard::int, :placedByKind::text, :placedBy::text, :reason::text,
          :movesDeadlines::boolean, :beganAt::timestamptz, :endsAt::timestamptz)
      ) l (channel, shard, placed_by_kind, placed_by, reason, moves_deadlines, began_at, ends_at)
      where coalesce(l.ends_at, 'infinity') > clock_timestamp()
        and not exists (
          select from suspension s
          where %s > l.began_at and (s.began_at = l.began_at or (s.shard is not null and %s))
            and s.channel is not distinct from l.channel
            and s.shard is not distinct from l.shard
            and s.placed_by_kind = l.placed_by_kind and s.placed_by = l.placed_by
            and s.reason = l.reason and s.moves_deadlines = l.moves_deadlines
            and s.ends_at is not distinct from l.ends_at)
      on conflict do nothing
      returning %s
      """
          .formatted(END, IS_IN_FORCE, COLUMNS);

  private static final String FIND_IN_FORCE =
      "select %s from suspension s where %s order by s.id".formatted(COLUMNS, IS_IN_FORCE);

  private static final String FIND_CONCERNING =
      """
      select %s
      from (values (:channel::text, :shard::int)) d (channel, shard) join suspension s on %s
      where %s order by s.id
      """
          .formatted(COLUMNS, CONCERNS, IS_IN_FORCE);

  private static final String FIND =
      "select %s from suspension s where s.id = ?".formatted(COLUMNS);

  private static final String LATEST_PAUSES =
      """
      select %s from suspension s where s.id < ? and s.shard is null order by s.id desc limit ?
      """
          .formatted(COLUMNS);

  private static final String END_ONE =
      """
      update suspension s set ended_at = clock_timestamp(), ended_by = ?
      where s.id = ? and %s
      returning %s
      """
          .formatted(IS_IN_FORCE, COLUMNS);

  // With those that ended just now: one that is placed and ended between two looks changes the
  // fingerprint, too. Another server may have lost what was placed since the last look.
  private static final String FINGERPRINT =
      """
      select concat(
        pg_postmaster_start_time(),
        md5(string_agg(s::text || (%1$s > now()), ',' order by s.id)))
      from suspension s
      where %1$s > now() - interval '1 min'
      """
          .formatted(END);

  private static final String PURGE =
      """
      delete from suspension where id = any(array(
        select s.id from suspension s where %1$s < ? order by %1$s limit ?))
      """
          .formatted(END);

  private static final String LAST_END =
      """
      select coalesce(max(%1$s), to_timestamp(0)) as ended_at from suspension s
      where %1$s <= now()
      """
          .formatted(END);

  private final JdbcTemplate jdbc;
  private final JdbcClient client;
  private final TransactionTemplate transactions;
  private final AuditLog audit;
  private final SchemaMigration schema;
  private final CachedRead watched;
  private final Remembered remembered;
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private volatile List<Suspension> inForce = List.of();
  private volatile Instant lastEnd = Instant.EPOCH;

  Suspensions(
      JdbcTemplate jdbc,
      JdbcClient client,
      TransactionTemplate transactions,
      AuditLog audit,
      SchemaMigration schema,
      ChangeDetector changes,
      PeriodicTasks tasks,
      MeterRegistry meters) {
    this.jdbc = jdbc;
    this.client = client;
    this.transactions = transactions;
    this.audit = audit;
    this.schema = schema;
    this.watched = changes.watch(FINGERPRINT);
    this.remembered = new Remembered(watched::forget);
    tasks.repeat(
        "suspensions",
        INTERVAL,
        "new and ended pauses and holds go unnoticed until Postgres answers",
        this::refreshIfChanged);
    for (PlacedBy by : List.of(PlacedBy.OPERATOR, PlacedBy.BREAKER)) {
      for (Scope scope : List.of(Scope.ALL, Scope.CHANNEL)) {
        Gauge.builder("order.timeout.expiry.paused", this, all -> all.count(by, scope))
            .description("Pauses of expiry in force, on all instances")
            .tag("by", by.name().toLowerCase(Locale.ROOT))
            .tag("scope", scope.name().toLowerCase(Locale.ROOT))
            .register(meters);
      }
    }
  }

  private long count(PlacedBy by, Scope scope) {
    return inForce.stream().filter(s -> s.placedByKind() == by && s.scope() == scope).count();
  }

  /**
   * Places a pause, which takes effect on all instances when the surrounding transaction, if any,
   * is committed: decisions that are running are waited for, and later ones wait for the commit.
   * Empty if the circuit breaker's pause is in force already.
   *
   * @throws SuspensionNotPlacedException if decisions that are running do not end
   */
  public Optional<Suspension> place(NewPause pause) {
    return Objects.requireNonNull(
        transactions.execute(
            status -> {
              excludeDecisions();
              Optional<Suspension> placed =
                  client
                      .sql(PLACE)
                      .param("channel", pause.channel())
                      .param("placedByKind", pause.placedByKind().name())
                      .param("placedBy", pause.placedBy())
                      .param("reason", pause.reason())
                      .param("movesDeadlines", pause.movesDeadlines())
                      .param("endsAt", parameter(pause.endsAt()))
                      .query(Suspensions::suspension)
                      .optional();
              remembered.placed(placed.stream().toList());
              return placed;
            }));
  }

  private void excludeDecisions() {
    try {
      jdbc.execute(LIMIT_WAIT);
      jdbc.execute(EXCLUDE_DECISIONS);
    } catch (DataAccessException e) {
      if (NestedExceptionUtils.getMostSpecificCause(e) instanceof SQLException sql
          && LOCK_NOT_AVAILABLE.equals(sql.getSQLState())) {
        throw new SuspensionNotPlacedException(
            "the pause is not placed: a decision that began before it has been running for "
                + LONGEST_WAIT.toSeconds()
                + " seconds and may still cancel orders; nothing was changed",
            e);
      }
      throw e;
    }
  }

  /**
   * Holds the expiry of shards until an operator lifts the holds, because records were lost before
   * they were read: payments or closures, so that an order that looks unpaid may be paid, or the
   * service's own events. The holds take effect with the surrounding transaction.
   */
  public void holdForLostRecords(Collection<Integer> shards, String detail) {
    int[] numbers = shards.stream().mapToInt(Integer::intValue).toArray();
    transactions.executeWithoutResult(
        status ->
            remembered.placed(
                client
                    .sql(HOLD)
                    .param("shards", numbers)
                    .param("placedBy", SERVICE)
                    .param("reason", detail)
                    .query(Suspensions::suspension)
                    .list()));
    log.error(
        "The expiry of shards {} is held until an operator lifts the holds, because records may have"
            + " been lost: {}",
        shards,
        detail);
  }

  /** Ends a pause or lifts a hold; returns whether it was in force. */
  public boolean end(long id, String by) {
    return Boolean.TRUE.equals(
        transactions.execute(
            status -> {
              List<Suspension> ended = jdbc.query(END_ONE, Suspensions::suspension, by, id);
              remembered.ended(ended);
              return !ended.isEmpty();
            }));
  }

  /** Finds a suspension, in force or ended. */
  public Optional<Suspension> find(long id) {
    return jdbc.query(FIND, Suspensions::suspension, id).stream().findFirst();
  }

  /** Reads the suspensions in force from Postgres, by number. */
  public List<Suspension> inForce() {
    return jdbc.query(FIND_IN_FORCE, Suspensions::suspension);
  }

  /** Reads the suspensions in force that concern the orders of a channel and shard, by number. */
  public List<Suspension> concerning(@Nullable String channel, int shard) {
    return client
        .sql(FIND_CONCERNING)
        .param("channel", channel)
        .param("shard", shard)
        .query(Suspensions::suspension)
        .list();
  }

  /** Returns at most {@code limit} pauses with a lower number, the latest first. */
  public List<Suspension> latestPauses(long before, int limit) {
    return jdbc.query(LATEST_PAUSES, Suspensions::suspension, before, limit);
  }

  /** Deletes at most {@code limit} suspensions that ended before a time; returns how many. */
  public int purge(Instant before, int limit) {
    return jdbc.update(PURGE, parameter(before), limit);
  }

  /** Returns whether no order of the shard could be cancelled at the last refresh. */
  public boolean isSuspended(int shard) {
    return isAllPaused() || isHeld(shard);
  }

  /** Returns whether the shard's expiry was held at the last refresh. */
  public boolean isHeld(int shard) {
    return inForce.stream().anyMatch(s -> s.shard() != null && s.shard() == shard);
  }

  /** Returns whether all expiry was paused at the last refresh. */
  public boolean isAllPaused() {
    return inForce.stream().anyMatch(s -> s.scope() == Scope.ALL);
  }

  /** Returns the channels that were paused at the last refresh. */
  public Set<String> pausedChannels() {
    return inForce.stream()
        .flatMap(s -> Stream.ofNullable(s.channel()))
        .collect(Collectors.toUnmodifiableSet());
  }

  /**
   * Returns whether a suspension kept the cancellation of an order waiting, so far as can be told
   * from its times: one has ended between them.
   */
  public boolean mayHaveDelayed(Instant due, Instant cancelledAt) {
    Instant end = lastEnd;
    return due.isBefore(end) && !cancelledAt.isBefore(end);
  }

  /** Registers a listener that is called whenever suspensions began or ended. */
  public void onChange(Runnable listener) {
    listeners.add(listener);
  }

  private void refreshIfChanged() {
    if (schema.isMigrated()) {
      watched.readIfChanged(
          () -> {
            readInForce();
            return true;
          });
    }
  }

  /**
   * Reads the suspensions in force into memory, and places those again that this instance knows to
   * be in force and whose rows are gone. Has to precede the first decision on a server of Postgres
   * that may have lost commits.
   *
   * @throws DataAccessException if Postgres does not answer; none is forgotten
   * @throws SuspensionNotPlacedException if decisions that are running do not end; none is
   *     forgotten
   */
  public void refresh() {
    readInForce();
    // Another thread may have read meanwhile, and this one has overwritten it.
    watched.forget();
  }

  private void readInForce() {
    List<Suspension> now = remembered.read(this::inForce, this::placeLostAgain);
    for (Instant end : jdbc.query(LAST_END, (row, number) -> requiredInstant(row, "ended_at"))) {
      lastEnd = end;
    }
    if (!now.equals(inForce)) {
      inForce = now;
      log.info(
          "{} pauses of expiry are in force; the expiry of these shards is held: {}",
          now.stream().filter(Suspension::isPause).count(),
          now.stream().flatMap(s -> Stream.ofNullable(s.shard())).distinct().sorted().toList());
      listeners.forEach(Runnable::run);
    }
  }

  private boolean placeLostAgain(List<Suspension> missing) {
    List<Suspension> gone = missing.stream().filter(s -> !isStored(s)).toList();
    if (gone.isEmpty()) {
      return false;
    }
    List<Suspension> placed =
        Objects.requireNonNull(
            transactions.execute(
                status -> {
                  excludeDecisions();
                  return gone.stream().map(this::placeAgain).flatMap(Optional::stream).toList();
                }));
    placed.forEach(
        s ->
            log.warn(
                "Postgres had lost {}, which is placed again with number {}; {} had placed it at {}:"
                    + " {}",
                describe(s),
                s.id(),
                s.placedBy(),
                s.beganAt(),
                s.reason()));
    return true;
  }

  private static String describe(Suspension suspension) {
    return switch (suspension.scope()) {
      case ALL -> "a pause of all expiry";
      case CHANNEL -> "a pause of channel " + suspension.channel();
      case SHARD -> "the hold of shard " + suspension.shard();
    };
  }

  /** Returns whether its row is there under its number, so that it has ended. */
  private boolean isStored(Suspension suspension) {
    return find(suspension.id()).filter(suspension::isSameAs).isPresent();
  }

  /** The entry in the audit log was lost with a pause. */
  private Optional<Suspension> placeAgain(Suspension lost) {
    Optional<Suspension> placed =
        client
            .sql(PLACE_AGAIN)
            .param("channel", lost.channel())
            .param("shard", lost.shard())
            .param("placedByKind", lost.placedByKind().name())
            .param("placedBy", lost.placedBy())
            .param("reason", lost.reason())
            .param("movesDeadlines", lost.movesDeadlines())
            .param("beganAt", parameter(lost.beganAt()))
            .param("endsAt", parameter(lost.endsAt()))
            .query(Suspensions::suspension)
            .optional();
    placed
        .filter(Suspension::isPause)
        .ifPresent(
            pause ->
                audit.add(
                    SERVICE,
                    Kind.PAUSE_EXPIRY,
                    Long.toString(pause.id()),
                    "placed again, because Postgres had lost it; %s had placed it at %s: %s"
                        .formatted(pause.placedBy(), pause.beganAt(), pause.reason())));
    return placed;
  }

  private static Suspension suspension(ResultSet row, int rowNumber) throws SQLException {
    return new Suspension(
        row.getLong("id"),
        row.getString("channel"),
        row.getObject("shard", Integer.class),
        PlacedBy.valueOf(row.getString("placed_by_kind")),
        row.getString("placed_by"),
        row.getString("reason"),
        row.getBoolean("moves_deadlines"),
        requiredInstant(row, "began_at"),
        instant(row, "ends_at"),
        instant(row, "ended_at"),
        row.getString("ended_by"));
  }
}
