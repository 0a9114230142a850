package io.ordertimeout.orders.suspension;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.platform.postgres.SchemaMigration;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Pauses of expiry, in Postgres: while one is in force no order of its channel, or none at all, is
 * cancelled, by any instance, whoever restarts. The deciding statement looks for itself, so a pause
 * holds from the moment it is committed; what is kept here, a second old at most, spares it from
 * being asked in vain. Thread-safe.
 */
@Component
public class ExpiryPauses {

  /** Who placed a pause. */
  public enum PlacedBy {
    /** Somebody who is answerable for the shop. */
    OPERATOR,
    /** The breaker, because too much was about to be cancelled. */
    BREAKER
  }

  /**
   * A pause.
   *
   * @param id its number
   * @param channel the channel whose orders it holds; null for all
   * @param placedByKind what placed it
   * @param placedBy the name of who did
   * @param reason why
   * @param movesDeadlines whether deadlines move by the part of it that their orders lived through
   * @param beganAt since when it has been in force
   * @param endsAt when it ends by itself; null for never
   * @param endedAt when somebody ended it; null if nobody did
   * @param endedBy who did
   */
  public record Pause(
      long id,
      @Nullable String channel,
      PlacedBy placedByKind,
      String placedBy,
      String reason,
      boolean movesDeadlines,
      Instant beganAt,
      @Nullable Instant endsAt,
      @Nullable Instant endedAt,
      @Nullable String endedBy) {}

  /**
   * A pause to be placed.
   *
   * @param channel the channel whose orders to hold; null for all
   * @param placedByKind what places it
   * @param placedBy the name of who does
   * @param reason why
   * @param movesDeadlines whether deadlines move by the part of it that their orders live through
   * @param endsAt when it ends by itself; null for never
   */
  public record NewPause(
      @Nullable String channel,
      PlacedBy placedByKind,
      String placedBy,
      String reason,
      boolean movesDeadlines,
      @Nullable Instant endsAt) {}

  private static final Logger log = LoggerFactory.getLogger(ExpiryPauses.class);

  private static final String IN_FORCE =
      "p.ended_at is null and (p.ends_at is null or p.ends_at > clock_timestamp())";

  /** Of a statement in which {@code d} is an order: a pause that holds it. */
  public static final String HOLDING =
      "from expiry_pause p where %s and (p.channel is null or p.channel = d.channel)"
          .formatted(IN_FORCE);

  /** To be part of a statement in which {@code d} is an order. */
  public static final String NOT_PAUSED = "not exists (select %s)".formatted(HOLDING);

  private static final String COLUMNS =
      """
      id, channel, placed_by_kind, placed_by, reason, moves_deadlines, began_at, ends_at, ended_at,
      ended_by
      """;

  private static final String FIND_IN_FORCE =
      "select %s from expiry_pause p where %s order by id".formatted(COLUMNS, IN_FORCE);

  private static final String FIND = "select %s from expiry_pause where id = ?".formatted(COLUMNS);

  private static final String LATEST =
      "select %s from expiry_pause where id < ? order by id desc limit ?".formatted(COLUMNS);

  private static final String PLACE =
      """
      insert into expiry_pause (
        channel, placed_by_kind, placed_by, reason, moves_deadlines, ends_at)
      values (?, ?, ?, ?, ?, ?::timestamptz)
      returning %s
      """
          .formatted(COLUMNS);

  private static final String TRIP =
      """
      with placed as (
        insert into expiry_pause (placed_by_kind, placed_by, reason, moves_deadlines)
        values ('BREAKER', ?, ?, ?)
        on conflict do nothing
        returning id, placed_by, reason
      )
      insert into operator_action (actor, action, subject, reason)
      select placed_by, 'PAUSE_EXPIRY', id::text, reason from placed
      """;

  private static final String END =
      """
      update expiry_pause p set ended_at = clock_timestamp(), ended_by = ?
      where id = ? and %s
      """
          .formatted(IN_FORCE);

  private final JdbcTemplate jdbc;
  private final SchemaMigration schema;
  private final StepHealth step;
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private volatile List<Pause> inForce = List.of();

  ExpiryPauses(
      JdbcTemplate jdbc, SchemaMigration schema, StepHealthRegistry steps, MeterRegistry meters) {
    this.jdbc = jdbc;
    this.schema = schema;
    this.step = steps.step("expiry-pauses");
    for (PlacedBy by : PlacedBy.values()) {
      Gauge.builder("order.timeout.expiry.paused", this, p -> p.count(by))
          .description("Pauses of expiry in force, on all instances")
          .tag("by", by.name().toLowerCase(Locale.ROOT))
          .register(meters);
    }
  }

  private long count(PlacedBy by) {
    return inForce.stream().filter(pause -> pause.placedByKind() == by).count();
  }

  /**
   * Places a pause; in force for all instances once the surrounding transaction, if any, is
   * committed.
   */
  public Pause place(NewPause pause) {
    Instant endsAt = pause.endsAt();
    return Objects.requireNonNull(
        jdbc.queryForObject(
            PLACE,
            ExpiryPauses::pause,
            pause.channel(),
            pause.placedByKind().name(),
            pause.placedBy(),
            pause.reason(),
            pause.movesDeadlines(),
            endsAt == null ? null : endsAt.atOffset(ZoneOffset.UTC)));
  }

  /** Pauses all expiry for the breaker, unless it has already; says whether it did. */
  public boolean trip(String by, String reason, boolean movesDeadlines) {
    return jdbc.update(TRIP, by, reason, movesDeadlines) > 0;
  }

  /** Ends the pause; says whether it was in force. */
  public boolean end(long id, String by) {
    return jdbc.update(END, by, id) > 0;
  }

  /** The pause of that number. */
  public Optional<Pause> find(long id) {
    return jdbc.query(FIND, ExpiryPauses::pause, id).stream().findFirst();
  }

  /** The pauses in force, as Postgres says now. */
  public List<Pause> inForce() {
    return jdbc.query(FIND_IN_FORCE, ExpiryPauses::pause);
  }

  /** At most that many pauses with a lower number, the latest first. */
  public List<Pause> latest(long before, int limit) {
    return jdbc.query(LATEST, ExpiryPauses::pause, before, limit);
  }

  /** Whether all expiry was paused when this was last looked up. */
  public boolean isAllPaused() {
    return inForce.stream().anyMatch(pause -> pause.channel() == null);
  }

  /** Has the listener called whenever pauses began or ended. */
  public void onChange(Runnable listener) {
    listeners.add(listener);
  }

  /** Looks the pauses up. */
  @Scheduled(fixedDelay = 500, timeUnit = TimeUnit.MILLISECONDS)
  public void refresh() {
    if (!schema.isMigrated()) {
      return;
    }
    List<Pause> now;
    try {
      now = inForce();
    } catch (RuntimeException e) {
      step.failed("pauses that begin or end go unnoticed until Postgres answers", e);
      return;
    }
    step.succeeded();
    if (!now.equals(inForce)) {
      inForce = now;
      log.info("{} pauses of expiry are in force", now.size());
      listeners.forEach(Runnable::run);
    }
  }

  private static Pause pause(ResultSet rs, int rowNumber) throws SQLException {
    return new Pause(
        rs.getLong("id"),
        rs.getString("channel"),
        PlacedBy.valueOf(rs.getString("placed_by_kind")),
        rs.getString("placed_by"),
        rs.getString("reason"),
        rs.getBoolean("moves_deadlines"),
        rs.getObject("began_at", OffsetDateTime.class).toInstant(),
        instant(rs, "ends_at"),
        instant(rs, "ended_at"),
        rs.getString("ended_by"));
  }

  private static @Nullable Instant instant(ResultSet rs, String column) throws SQLException {
    OffsetDateTime time = rs.getObject(column, OffsetDateTime.class);
    return time == null ? null : time.toInstant();
  }
}
