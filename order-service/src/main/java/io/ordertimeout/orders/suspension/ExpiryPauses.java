package io.ordertimeout.orders.suspension;

import static io.ordertimeout.orders.platform.postgres.ResultSets.instant;
import static io.ordertimeout.orders.platform.postgres.ResultSets.parameter;
import static io.ordertimeout.orders.platform.postgres.ResultSets.requiredInstant;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.audit.AuditLog;
import io.ordertimeout.orders.audit.OperatorAction.Kind;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.platform.postgres.CachedRead;
import io.ordertimeout.orders.platform.postgres.ChangeDetector;
import io.ordertimeout.orders.platform.postgres.SchemaMigration;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Pauses of expiry: while a pause is in force, no instance cancels an order of its channel, or any
 * order at all. Restarts do not end a pause.
 *
 * <p>The deciding statement checks the table itself, and a pause waits for those that are running
 * before it is placed, so it takes effect when it is committed. The copy in memory, at most two
 * seconds old, avoids statements that could not cancel anything, and pauses that a failover loses
 * are placed again from it. Thread-safe.
 */
@Repository
public class ExpiryPauses {

  /** Who placed a pause. */
  public enum PlacedBy {
    /** An operator. */
    OPERATOR,
    /** The circuit breaker, because an abnormal number of orders was about to be cancelled. */
    BREAKER
  }

  /**
   * A pause.
   *
   * @param id its number
   * @param channel the channel whose orders it holds; null for all orders
   * @param placedByKind whether an operator or the circuit breaker placed it
   * @param placedBy the name of who placed it
   * @param reason why
   * @param moveDeadlines whether deadlines move by the part of it during which the orders were open
   * @param beganAt since when it has been in force
   * @param endsAt when it ends by itself; null for never
   * @param endedAt when it was ended; null if it was not
   * @param endedBy the name of who ended it
   */
  public record Pause(
      long id,
      @Nullable String channel,
      PlacedBy placedByKind,
      String placedBy,
      String reason,
      boolean moveDeadlines,
      Instant beganAt,
      @Nullable Instant endsAt,
      @Nullable Instant endedAt,
      @Nullable String endedBy) {}

  /**
   * A pause to be placed; the parameters are those of {@link Pause}.
   *
   * @param channel the channel whose orders to hold; null for all orders
   * @param placedByKind whether an operator or the circuit breaker places it
   * @param placedBy the name of who places it
   * @param reason why
   * @param moveDeadlines whether deadlines move by the part of it that their orders live through
   * @param endsAt when it ends by itself; null for never
   */
  public record NewPause(
      @Nullable String channel,
      PlacedBy placedByKind,
      String placedBy,
      String reason,
      boolean moveDeadlines,
      @Nullable Instant endsAt) {}

  private static final Logger log = LoggerFactory.getLogger(ExpiryPauses.class);

  /** SQL expression: when the pause {@code p} ends or ended; infinity if that is not known. */
  static final String END = "coalesce(p.ended_at, p.ends_at, 'infinity')";

  // now() is stable, so that the index bounds the comparison: clock_timestamp() would read all
  // pauses there have been.
  private static final String IN_FORCE = END + " > now()";

  /** SQL query: the {@code channel} of each pause in force; null for all channels. */
  public static final String PAUSED_CHANNELS =
      "select p.channel from expiry_pause p where " + IN_FORCE;

  /** SQL query: {@code channel}, {@code moves_deadlines}, {@code began_at} of the pause :pause. */
  public static final String PAUSE =
      "select p.channel, p.moves_deadlines, p.began_at from expiry_pause p where p.id = :pause";

  /** SQL query: the {@code channel} of each pause in force but the pause {@code :pause}. */
  public static final String OTHER_PAUSED_CHANNELS = PAUSED_CHANNELS + " and p.id <> :pause";

  /** SQL condition: a pause holds the order {@code d}. */
  public static final String PAUSED =
      "exists (select from expiry_pause p where %s and (p.channel is null or p.channel = d.channel))"
          .formatted(IN_FORCE);

  /** SQL condition: no pause holds the order {@code d}. */
  public static final String NOT_PAUSED = "not " + PAUSED;

  /**
   * SQL condition of a statement that cancels: no pause is being placed. It is always met, for the
   * statement waits until that is so: it takes a lock on the table, which {@link #place} excludes,
   * and Postgres takes all locks on tables before the snapshot that the statement reads.
   */
  public static final String NONE_BEING_PLACED =
      "not exists (select from expiry_pause where false for key share)";

  /**
   * How long a pause waits for the deciding statements that are running; later ones wait for it.
   */
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

  private static final String LIMIT_WAIT = "set local lock_timeout = " + LONGEST_WAIT.toMillis();

  // Readers are not excluded.
  private static final String EXCLUDE_DECISIONS = "lock table expiry_pause in exclusive mode";

  /** Postgres's state for a lock that it did not get in time. */
  private static final String LOCK_NOT_AVAILABLE = "55P03";

  /** The actor of the audit log for pauses that are placed again. */
  private static final String SERVICE = "service";

  private static final String COLUMNS =
      """
      id, channel, placed_by_kind, placed_by, reason, moves_deadlines, began_at, ends_at, ended_at,
      ended_by
      """;

  private static final String FIND_IN_FORCE =
      "select %s from expiry_pause p where %s order by id".formatted(COLUMNS, IN_FORCE);

  // With the pauses that ended just now: a pause that is placed and ended between two looks changes
  // the fingerprint, too. Another server may have lost what was placed since the last look.
  private static final String FINGERPRINT =
      """
      select concat(
        pg_postmaster_start_time(),
        md5(string_agg(p::text || (%1$s > now()), ',' order by p.id)))
      from expiry_pause p
      where %1$s > now() - interval '1 min'
      """
          .formatted(END);

  private static final String FIND_HOLDING =
      """
      select %s from expiry_pause p
      where %s and (channel is null or channel = ?::text) order by id
      """
          .formatted(COLUMNS, IN_FORCE);

  private static final String FIND = "select %s from expiry_pause where id = ?".formatted(COLUMNS);

  private static final String LATEST =
      "select %s from expiry_pause where id < ? order by id desc limit ?".formatted(COLUMNS);

  // The circuit breakers of several instances may trip at the same time; one pause is enough.
  private static final String PLACE =
      """
      insert into expiry_pause (
        channel, placed_by_kind, placed_by, reason, moves_deadlines, ends_at)
      values (:channel, :placedByKind, :placedBy, :reason, :moveDeadlines, :endsAt::timestamptz)
      on conflict do nothing
      returning %s
      """
          .formatted(COLUMNS);

  // By its content, for its number may have been given to another pause, or another instance may
  // have
  // placed it again under another number. The index bounds the comparison.
  private static final String PLACE_AGAIN =
      """
      insert into expiry_pause (
        channel, placed_by_kind, placed_by, reason, moves_deadlines, began_at, ends_at)
      select l.* from (
        values (
          :channel::text, :placedByKind::text, :placedBy::text, :reason::text,
          :moveDeadlines::boolean, :beganAt::timestamptz, :endsAt::timestamptz)
      ) l (channel, placed_by_kind, placed_by, reason, moves_deadlines, began_at, ends_at)
      where coalesce(l.ends_at, 'infinity') > clock_timestamp()
        and not exists (
          select from expiry_pause p
          where %s > l.began_at and p.began_at = l.began_at
            and p.channel is not distinct from l.channel
            and p.placed_by_kind = l.placed_by_kind and p.placed_by = l.placed_by
            and p.reason = l.reason and p.moves_deadlines = l.moves_deadlines
            and p.ends_at is not distinct from l.ends_at)
      on conflict do nothing
      returning %s
      """
          .formatted(END, COLUMNS);

  private static final String END_PAUSE =
      """
      update expiry_pause p set ended_at = clock_timestamp(), ended_by = ?
      where id = ? and %s
      returning %s
      """
          .formatted(IN_FORCE, COLUMNS);

  private static final String PURGE =
      """
      delete from expiry_pause where id = any(array(
        select id from expiry_pause p where %1$s < ? order by %1$s limit ?))
      """
          .formatted(END);

  private static final String LAST_END =
      """
      select coalesce(max(%1$s), to_timestamp(0)) as ended_at from expiry_pause p
      where %1$s <= now()
      """
          .formatted(END);

  private final JdbcTemplate jdbc;
  private final JdbcClient client;
  private final TransactionTemplate transactions;
  private final AuditLog audit;
  private final SchemaMigration schema;
  private final StepHealth health;
  private final CachedRead watched;
  private final Remembered<Pause> remembered;
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private volatile List<Pause> inForce = List.of();
  private volatile Instant lastEnd = Instant.EPOCH;

  ExpiryPauses(
      JdbcTemplate jdbc,
      JdbcClient client,
      TransactionTemplate transactions,
      AuditLog audit,
      SchemaMigration schema,
      StepHealthRegistry registry,
      ChangeDetector changes,
      MeterRegistry meters) {
    this.jdbc = jdbc;
    this.client = client;
    this.transactions = transactions;
    this.audit = audit;
    this.schema = schema;
    this.health = registry.step("expiry-pauses");
    this.watched = changes.watch(FINGERPRINT);
    this.remembered = new Remembered<>(watched::forget);
    for (PlacedBy by : PlacedBy.values()) {
      for (boolean all : new boolean[] {true, false}) {
        Gauge.builder("order.timeout.expiry.paused", this, pauses -> pauses.count(by, all))
            .description("Pauses of expiry in force, on all instances")
            .tag("by", by.name().toLowerCase(Locale.ROOT))
            .tag("scope", all ? "all" : "channel")
            .register(meters);
      }
    }
  }

  private long count(PlacedBy by, boolean all) {
    return inForce.stream()
        .filter(pause -> pause.placedByKind() == by && (pause.channel() == null) == all)
        .count();
  }

  /**
   * Places a pause, which takes effect on all instances when the surrounding transaction, if any,
   * is committed: decisions that are running are waited for, and later ones wait for the commit.
   * Empty if the circuit breaker's pause is in force already.
   *
   * @throws PauseNotPlacedException if decisions that are running do not end
   */
  public Optional<Pause> place(NewPause pause) {
    return Objects.requireNonNull(
        transactions.execute(
            status -> {
              excludeDecisions();
              Optional<Pause> placed =
                  client
                      .sql(PLACE)
                      .param("channel", pause.channel())
                      .param("placedByKind", pause.placedByKind().name())
                      .param("placedBy", pause.placedBy())
                      .param("reason", pause.reason())
                      .param("moveDeadlines", pause.moveDeadlines())
                      .param("endsAt", parameter(pause.endsAt()))
                      .query(ExpiryPauses::pause)
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
        throw new PauseNotPlacedException(
            "the pause is not placed: a decision that began before it has been running for "
                + LONGEST_WAIT.toSeconds()
                + " seconds and may still cancel orders; nothing was changed",
            e);
      }
      throw e;
    }
  }

  /** Ends the pause; returns whether it was in force. */
  public boolean end(long id, String by) {
    return Boolean.TRUE.equals(
        transactions.execute(
            status -> {
              List<Pause> ended = jdbc.query(END_PAUSE, ExpiryPauses::pause, by, id);
              remembered.ended(pause -> ended.stream().anyMatch(row -> isSame(row, pause)));
              return !ended.isEmpty();
            }));
  }

  /** Finds a pause, in force or ended. */
  public Optional<Pause> find(long id) {
    return jdbc.query(FIND, ExpiryPauses::pause, id).stream().findFirst();
  }

  /** Reads the pauses in force from Postgres, by number. */
  public List<Pause> inForce() {
    return jdbc.query(FIND_IN_FORCE, ExpiryPauses::pause);
  }

  /** Reads the pauses in force that hold the orders of a channel, by number. */
  public List<Pause> holding(@Nullable String channel) {
    return jdbc.query(FIND_HOLDING, ExpiryPauses::pause, channel);
  }

  /** Returns at most {@code limit} pauses with a lower number, the latest first. */
  public List<Pause> latest(long before, int limit) {
    return jdbc.query(LATEST, ExpiryPauses::pause, before, limit);
  }

  /** Deletes at most {@code limit} pauses that ended before a time; returns how many. */
  public int purge(Instant before, int limit) {
    return jdbc.update(PURGE, parameter(before), limit);
  }

  /** Returns whether all expiry was paused at the last refresh. */
  public boolean isAllPaused() {
    return inForce.stream().anyMatch(pause -> pause.channel() == null);
  }

  /** Returns the channels that were paused at the last refresh. */
  public Set<String> pausedChannels() {
    return inForce.stream()
        .map(Pause::channel)
        .filter(Objects::nonNull)
        .collect(Collectors.toUnmodifiableSet());
  }

  /**
   * Returns whether a pause kept the cancellation of an order waiting, so far as can be told from
   * its times: one has ended between them.
   */
  public boolean mayHaveDelayed(Instant due, Instant cancelledAt) {
    Instant end = lastEnd;
    return due.isBefore(end) && !cancelledAt.isBefore(end);
  }

  /** Registers a listener that is called whenever pauses began or ended. */
  public void onChange(Runnable listener) {
    listeners.add(listener);
  }

  @Scheduled(fixedDelay = 500)
  void refreshIfChanged() {
    if (schema.isMigrated() && watched.readIfChanged(this::read)) {
      health.succeeded();
    }
  }

  /** Reads the pauses in force into memory at once. */
  public void refresh() {
    read();
    // Another thread may have read meanwhile, and this one has overwritten it.
    watched.forget();
  }

  private boolean read() {
    try {
      readInForce();
    } catch (RuntimeException | Error e) {
      health.failed("new and ended pauses go unnoticed until Postgres answers", e);
      return false;
    }
    return true;
  }

  /** Places those pauses again that Postgres has lost. */
  void placeAgain() {
    readInForce();
    watched.forget();
  }

  private void readInForce() {
    List<Pause> now = remembered.read(this::inForce, this::placeLostAgain);
    for (Instant end : jdbc.query(LAST_END, (row, number) -> requiredInstant(row, "ended_at"))) {
      lastEnd = end;
    }
    if (!now.equals(inForce)) {
      inForce = now;
      log.info("{} pauses of expiry are in force", now.size());
      listeners.forEach(Runnable::run);
    }
  }

  private boolean placeLostAgain(List<Pause> missing) {
    List<Pause> gone = missing.stream().filter(pause -> !isStored(pause)).toList();
    if (gone.isEmpty()) {
      return false;
    }
    List<Pause> placed =
        Objects.requireNonNull(
            transactions.execute(
                status -> {
                  excludeDecisions();
                  return gone.stream().map(this::placeAgain).flatMap(Optional::stream).toList();
                }));
    placed.forEach(
        pause ->
            log.warn(
                "Postgres had lost a pause of {}, which is placed again with number {}; {} had placed"
                    + " it at {}: {}",
                pause.channel() == null ? "all expiry" : "channel " + pause.channel(),
                pause.id(),
                pause.placedBy(),
                pause.beganAt(),
                pause.reason()));
    return true;
  }

  /** Returns whether its row is there under its number, so that it has ended. */
  private boolean isStored(Pause pause) {
    return find(pause.id()).filter(row -> isSame(row, pause)).isPresent();
  }

  /** A number that a failover has lost may be given to another pause. */
  private static boolean isSame(Pause one, Pause other) {
    return one.id() == other.id() && one.beganAt().equals(other.beganAt());
  }

  /** The entry in the audit log was lost with the pause. */
  private Optional<Pause> placeAgain(Pause lost) {
    Optional<Pause> placed =
        client
            .sql(PLACE_AGAIN)
            .param("channel", lost.channel())
            .param("placedByKind", lost.placedByKind().name())
            .param("placedBy", lost.placedBy())
            .param("reason", lost.reason())
            .param("moveDeadlines", lost.moveDeadlines())
            .param("beganAt", parameter(lost.beganAt()))
            .param("endsAt", parameter(lost.endsAt()))
            .query(ExpiryPauses::pause)
            .optional();
    placed.ifPresent(
        pause ->
            audit.add(
                SERVICE,
                Kind.PAUSE_EXPIRY,
                Long.toString(pause.id()),
                "placed again, because Postgres had lost it; %s had placed it at %s: %s"
                    .formatted(pause.placedBy(), pause.beganAt(), pause.reason())));
    return placed;
  }

  private static Pause pause(ResultSet row, int rowNumber) throws SQLException {
    return new Pause(
        row.getLong("id"),
        row.getString("channel"),
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
