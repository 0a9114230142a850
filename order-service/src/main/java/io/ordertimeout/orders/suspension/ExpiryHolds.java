package io.ordertimeout.orders.suspension;

import static io.ordertimeout.orders.platform.postgres.ResultSets.instant;
import static io.ordertimeout.orders.platform.postgres.ResultSets.parameter;
import static io.ordertimeout.orders.platform.postgres.ResultSets.requiredInstant;

import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.platform.postgres.CachedRead;
import io.ordertimeout.orders.platform.postgres.ChangeDetector;
import io.ordertimeout.orders.platform.postgres.SchemaMigration;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Holds on the expiry of shards: while a hold is in force, no instance cancels an order of its
 * shard. A hold stays in force until an operator lifts it.
 *
 * <p>The deciding statement checks the table itself. The copy in memory, at most two seconds old,
 * avoids statements that could not cancel anything, and holds that a failover loses are placed
 * again from it. Thread-safe.
 */
@Repository
public class ExpiryHolds {

  /**
   * A hold.
   *
   * @param id its number
   * @param shard the shard that it holds
   * @param reason the kind of event that caused it
   * @param detail what exactly happened, and where
   * @param placedAt since when it has been in force
   * @param liftedAt when it was lifted; null while it is in force
   */
  public record Hold(
      long id,
      int shard,
      String reason,
      String detail,
      Instant placedAt,
      @Nullable Instant liftedAt) {}

  /** SQL condition: the expiry of the shard {@code :shard} is not held. */
  public static final String NOT_HELD =
      "not exists (select from expiry_hold where shard = :shard and lifted_at is null)";

  /** SQL query: the {@code shard} of each hold in force. */
  public static final String HELD_SHARDS = "select shard from expiry_hold where lifted_at is null";

  private static final Logger log = LoggerFactory.getLogger(ExpiryHolds.class);

  private static final String COLUMNS = "id, shard, reason, detail, placed_at, lifted_at";

  private static final String PLACE =
      """
      insert into expiry_hold (shard, reason, detail)
      select s.shard, 'LOST_RECORDS', :detail from unnest(:shards::int[]) as s(shard)
      where not exists (
        select from expiry_hold h
        where h.shard = s.shard and h.detail = :detail and h.lifted_at is null)
      returning %s
      """
          .formatted(COLUMNS);

  // Other instances place the same hold again, and the reason for it may have been found again.
  private static final String EXCLUDE_OTHERS = "lock table expiry_hold in share row exclusive mode";

  // The indexes are used for each of the two conditions.
  private static final String PLACE_AGAIN =
      """
      insert into expiry_hold (shard, reason, detail, placed_at)
      select l.* from (
        values (:shard::int, :reason::text, :detail::text, :placedAt::timestamptz)
      ) l (shard, reason, detail, placed_at)
      where not exists (
          select from expiry_hold h
          where h.shard = l.shard and h.lifted_at is null
            and h.reason = l.reason and h.detail = l.detail)
        and not exists (
          select from expiry_hold h
          where h.lifted_at > l.placed_at and h.placed_at = l.placed_at
            and h.shard = l.shard and h.reason = l.reason and h.detail = l.detail)
      returning %s
      """
          .formatted(COLUMNS);

  private static final String FIND = "select %s from expiry_hold where id = ?".formatted(COLUMNS);

  private static final String IN_FORCE =
      "select %s from expiry_hold where lifted_at is null order by shard, id".formatted(COLUMNS);

  // With the holds that were lifted just now: a hold that is placed and lifted between two looks
  // changes the fingerprint, too. Another server may have lost what was placed since the last look.
  private static final String FINGERPRINT =
      """
      select concat(pg_postmaster_start_time(), md5(string_agg(h::text, ',' order by h.id))) from (
        select * from expiry_hold where lifted_at is null
        union all
        select * from expiry_hold where lifted_at > now() - interval '1 min'
      ) h
      """;

  private static final String LIFT =
      """
      update expiry_hold set lifted_at = clock_timestamp() where id = ? and lifted_at is null
      returning %s
      """
          .formatted(COLUMNS);

  private static final String PURGE =
      """
      delete from expiry_hold where id = any(array(
        select id from expiry_hold where lifted_at < ? order by lifted_at limit ?))
      """;

  private final JdbcTemplate jdbc;
  private final JdbcClient client;
  private final TransactionTemplate transactions;
  private final SchemaMigration schema;
  private final StepHealth health;
  private final CachedRead watched;
  private final Remembered<Hold> remembered;
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private volatile Set<Integer> held = Set.of();

  ExpiryHolds(
      JdbcTemplate jdbc,
      JdbcClient client,
      TransactionTemplate transactions,
      SchemaMigration schema,
      StepHealthRegistry registry,
      ChangeDetector changes) {
    this.jdbc = jdbc;
    this.client = client;
    this.transactions = transactions;
    this.schema = schema;
    this.health = registry.step("expiry-holds");
    this.watched = changes.watch(FINGERPRINT);
    this.remembered = new Remembered<>(watched::forget);
  }

  /**
   * Holds the expiry of shards because records were lost before they were read: payments or
   * closures, so that an order that looks unpaid may be paid, or the service's own events. The
   * holds take effect with the surrounding transaction.
   */
  public void placeForLostRecords(Collection<Integer> shards, String detail) {
    int[] numbers = shards.stream().mapToInt(Integer::intValue).toArray();
    transactions.executeWithoutResult(
        status ->
            remembered.placed(
                client
                    .sql(PLACE)
                    .param("shards", numbers)
                    .param("detail", detail)
                    .query(ExpiryHolds::hold)
                    .list()));
    log.error(
        "The expiry of shards {} is held until an operator lifts the holds, because records may have"
            + " been lost: {}",
        shards,
        detail);
    Set<Integer> more = new HashSet<>(held);
    more.addAll(shards);
    held = Set.copyOf(more);
    // The transaction may be rolled back.
    watched.forget();
  }

  /** Finds a hold, in force or lifted. */
  public Optional<Hold> find(long id) {
    return jdbc.query(FIND, ExpiryHolds::hold, id).stream().findFirst();
  }

  /** Reads the holds in force from Postgres, by shard. */
  public List<Hold> inForce() {
    return jdbc.query(IN_FORCE, ExpiryHolds::hold);
  }

  /** Lifts the hold; returns whether it was in force. */
  public boolean lift(long id) {
    return Boolean.TRUE.equals(
        transactions.execute(
            status -> {
              List<Hold> lifted = jdbc.query(LIFT, ExpiryHolds::hold, id);
              remembered.ended(hold -> lifted.stream().anyMatch(row -> isSame(row, hold)));
              return !lifted.isEmpty();
            }));
  }

  /** Deletes at most {@code limit} holds that were lifted before a time; returns how many. */
  public int purge(Instant before, int limit) {
    return jdbc.update(PURGE, parameter(before), limit);
  }

  /** Returns whether the shard's expiry was held at the last refresh. */
  public boolean isHeld(int shard) {
    return held.contains(shard);
  }

  /** Registers a listener that is called whenever holds were placed or lifted. */
  public void onChange(Runnable listener) {
    listeners.add(listener);
  }

  @Scheduled(fixedDelay = 500)
  void refreshIfChanged() {
    if (schema.isMigrated() && watched.readIfChanged(this::refresh)) {
      health.succeeded();
    }
  }

  private boolean refresh() {
    try {
      readInForce();
    } catch (RuntimeException | Error e) {
      health.failed("new and lifted holds go unnoticed until Postgres answers", e);
      return false;
    }
    return true;
  }

  /** Places those holds again that Postgres has lost. */
  void placeAgain() {
    readInForce();
    // Another thread may have read meanwhile, and this one has overwritten it.
    watched.forget();
  }

  private void readInForce() {
    Set<Integer> now =
        remembered.read(this::inForce, this::placeLostAgain).stream()
            .map(Hold::shard)
            .collect(Collectors.toUnmodifiableSet());
    if (!now.equals(held)) {
      log.info("The expiry of these shards is held: {}", now);
      held = now;
      listeners.forEach(Runnable::run);
    }
  }

  private boolean placeLostAgain(List<Hold> missing) {
    List<Hold> gone = missing.stream().filter(hold -> !isStored(hold)).toList();
    if (gone.isEmpty()) {
      return false;
    }
    List<Hold> placed =
        Objects.requireNonNull(
            transactions.execute(
                status -> {
                  jdbc.execute(EXCLUDE_OTHERS);
                  return gone.stream().map(this::placeAgain).flatMap(Optional::stream).toList();
                }));
    placed.forEach(
        hold ->
            log.warn(
                "Postgres had lost the hold of shard {}, which is placed again with number {}; it was"
                    + " placed at {}: {}",
                hold.shard(),
                hold.id(),
                hold.placedAt(),
                hold.detail()));
    return true;
  }

  private Optional<Hold> placeAgain(Hold lost) {
    return client
        .sql(PLACE_AGAIN)
        .param("shard", lost.shard())
        .param("reason", lost.reason())
        .param("detail", lost.detail())
        .param("placedAt", parameter(lost.placedAt()))
        .query(ExpiryHolds::hold)
        .optional();
  }

  /** Returns whether its row is there under its number, so that it was lifted. */
  private boolean isStored(Hold hold) {
    return find(hold.id()).filter(row -> isSame(row, hold)).isPresent();
  }

  /** A number that a failover has lost may be given to another hold. */
  private static boolean isSame(Hold one, Hold other) {
    return one.id() == other.id() && one.placedAt().equals(other.placedAt());
  }

  private static Hold hold(ResultSet row, int rowNumber) throws SQLException {
    return new Hold(
        row.getLong("id"),
        row.getInt("shard"),
        row.getString("reason"),
        row.getString("detail"),
        requiredInstant(row, "placed_at"),
        instant(row, "lifted_at"));
  }
}
