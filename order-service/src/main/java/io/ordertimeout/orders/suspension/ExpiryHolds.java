package io.ordertimeout.orders.suspension;

import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.platform.postgres.SchemaMigration;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Holds on the expiry of shards, in Postgres: while one is in force no order of its shard is
 * cancelled, by any instance, until an operator lifts it. The deciding statement looks for itself;
 * what is kept here, a second old at most, spares it from being asked in vain. Thread-safe.
 */
@Component
public class ExpiryHolds {

  /**
   * A hold.
   *
   * @param id its number
   * @param shard the shard that it holds
   * @param reason what happened
   * @param detail where
   * @param placedAt since when
   * @param liftedAt until when; null while it is in force
   */
  public record Hold(
      long id,
      int shard,
      String reason,
      String detail,
      Instant placedAt,
      @Nullable Instant liftedAt) {}

  private static final Logger log = LoggerFactory.getLogger(ExpiryHolds.class);

  /** To be part of a statement that cancels orders of the shard given as the parameter. */
  public static final String NOT_HELD =
      "not exists (select from expiry_hold where shard = ? and lifted_at is null)";

  private static final String PLACE =
      """
      insert into expiry_hold (shard, reason, detail) select ?, 'LOST_RECORDS', ?
      where not exists (
        select from expiry_hold where shard = ? and detail = ? and lifted_at is null)
      """;

  private static final String IN_FORCE = "select shard from expiry_hold where lifted_at is null";

  private static final String COLUMNS = "id, shard, reason, detail, placed_at, lifted_at";

  private static final String FIND = "select %s from expiry_hold where id = ?".formatted(COLUMNS);

  private static final String ALL_IN_FORCE =
      "select %s from expiry_hold where lifted_at is null order by shard, id".formatted(COLUMNS);

  private static final String LIFT =
      "update expiry_hold set lifted_at = clock_timestamp() where id = ? and lifted_at is null";

  private final JdbcTemplate jdbc;
  private final SchemaMigration schema;
  private final StepHealth step;
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private volatile Set<Integer> held = Set.of();

  ExpiryHolds(JdbcTemplate jdbc, SchemaMigration schema, StepHealthRegistry steps) {
    this.jdbc = jdbc;
    this.schema = schema;
    this.step = steps.step("expiry-holds");
  }

  /**
   * Holds the shard's expiry, because payments or closings are gone that nobody has read: an order
   * that looks unpaid may be paid. In force with the surrounding transaction.
   */
  public void placeForLostRecords(int shard, String detail) {
    jdbc.update(PLACE, shard, detail, shard, detail);
    log.error(
        "Expiry of shard {} is held until an operator lifts it, since payments or closings may have"
            + " been lost: {}",
        shard,
        detail);
    Set<Integer> more = new HashSet<>(held);
    more.add(shard);
    held = Set.copyOf(more);
  }

  /** The hold of that number. */
  public Optional<Hold> find(long id) {
    return jdbc.query(FIND, ExpiryHolds::hold, id).stream().findFirst();
  }

  /** The holds in force, by shard, as Postgres says now. */
  public List<Hold> inForce() {
    return jdbc.query(ALL_IN_FORCE, ExpiryHolds::hold);
  }

  /** Lifts the hold; says whether it was in force. */
  public boolean lift(long id) {
    return jdbc.update(LIFT, id) > 0;
  }

  private static Hold hold(ResultSet rs, int rowNumber) throws SQLException {
    OffsetDateTime liftedAt = rs.getObject("lifted_at", OffsetDateTime.class);
    return new Hold(
        rs.getLong("id"),
        rs.getInt("shard"),
        rs.getString("reason"),
        rs.getString("detail"),
        rs.getObject("placed_at", OffsetDateTime.class).toInstant(),
        liftedAt == null ? null : liftedAt.toInstant());
  }

  /** Whether the shard's expiry was held when this was last looked up. */
  public boolean isHeld(int shard) {
    return held.contains(shard);
  }

  /** Has the listener called whenever holds were placed or lifted. */
  public void onChange(Runnable listener) {
    listeners.add(listener);
  }

  /** Looks the holds up. */
  @Scheduled(fixedDelay = 1, timeUnit = TimeUnit.SECONDS)
  void refresh() {
    if (!schema.isMigrated()) {
      return;
    }
    Set<Integer> now;
    try {
      now = Set.copyOf(jdbc.queryForList(IN_FORCE, Integer.class));
    } catch (RuntimeException e) {
      step.failed("holds that are lifted or placed go unnoticed until Postgres answers", e);
      return;
    }
    step.succeeded();
    if (!now.equals(held)) {
      log.info("Expiry is held of shards {}", now);
      held = now;
      listeners.forEach(Runnable::run);
    }
  }
}
