package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.platform.postgres.ResultSets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * The input topics that are not read on because most of their records are unusable, and the
 * permissions of operators to turn these records into dead letters nevertheless. Thread-safe.
 */
@Repository
public class IntakeStops {

  /**
   * A topic that is not read on.
   *
   * @param topic its name
   * @param beganAt since when
   * @param unusable how many of the records looked at are unusable
   * @param records how many were looked at
   * @param firstPosition the position of the first one that is not taken in
   * @param firstFault why it is unusable
   * @param deadLettersUntil until when unusable records of the topic become dead letters
   *     nevertheless; null if no operator has decided so
   */
  public record Stop(
      String topic,
      Instant beganAt,
      int unusable,
      int records,
      String firstPosition,
      String firstFault,
      @Nullable Instant deadLettersUntil) {}

  /** How long a permission lasts. */
  public static final Duration PERMISSION = Duration.ofHours(1);

  /** After this time without news, no instance is stopped at the topic any more. */
  private static final String STALE = "interval '30 s'";

  private static final String COLUMNS =
      "topic, began_at, unusable, records, first_position, first_fault, dead_letters_until";

  private static final String REPORT =
      """
      insert into intake_stop as s (topic, began_at, seen_at, unusable, records, first_position, first_fault)
      values (:topic, clock_timestamp(), clock_timestamp(), :unusable, :records, :position, :fault)
      on conflict (topic) do update set
        began_at = case when s.seen_at > clock_timestamp() - %s then s.began_at else excluded.began_at end,
        seen_at = excluded.seen_at, unusable = excluded.unusable, records = excluded.records,
        first_position = excluded.first_position, first_fault = excluded.first_fault
      returning
        case when s.dead_letters_until > clock_timestamp() then s.dead_letters_until end
          as dead_letters_until
      """
          .formatted(STALE);

  private static final String IN_FORCE =
      """
      select %s from intake_stop
      where seen_at > clock_timestamp() - %s
        and (dead_letters_until is null or dead_letters_until <= clock_timestamp())
      order by topic
      """
          .formatted(COLUMNS, STALE);

  private static final String FIND =
      """
      select %s from intake_stop
      where topic = :topic
        and (seen_at > clock_timestamp() - %s or dead_letters_until > clock_timestamp())
      """
          .formatted(COLUMNS, STALE);

  private static final String PERMIT =
      """
      update intake_stop set dead_letters_until = clock_timestamp() + make_interval(secs => :seconds)
      where topic = :topic
        and (dead_letters_until is null or dead_letters_until <= clock_timestamp())
      """;

  private final JdbcClient jdbc;

  IntakeStops(JdbcClient jdbc) {
    this.jdbc = jdbc;
  }

  /**
   * Reports that most records of a topic are unusable.
   *
   * @param position the position of the first one
   * @param fault why it is unusable
   * @return until when unusable records of the topic become dead letters nevertheless, by
   *     Postgres's clock; empty if the topic must not be read on
   */
  Optional<Instant> report(String topic, int unusable, int records, String position, String fault) {
    return jdbc.sql(REPORT)
        .param("topic", topic)
        .param("unusable", unusable)
        .param("records", records)
        .param("position", position)
        .param("fault", fault)
        .query((row, number) -> Optional.ofNullable(ResultSets.instant(row, "dead_letters_until")))
        .single();
  }

  /** Returns the topics that an instance does not read on, by name. */
  public List<Stop> inForce() {
    return jdbc.sql(IN_FORCE).query(IntakeStops::stop).list();
  }

  /** Returns the stop of a topic that is not read on, or is read on by permission only. */
  public Optional<Stop> find(String topic) {
    return jdbc.sql(FIND).param("topic", topic).query(IntakeStops::stop).optional();
  }

  /**
   * Lets unusable records of a topic become dead letters for {@link #PERMISSION}.
   *
   * @return whether they could not before
   */
  public boolean permitDeadLetters(String topic) {
    return jdbc.sql(PERMIT).param("topic", topic).param("seconds", PERMISSION.toSeconds()).update()
        > 0;
  }

  private static Stop stop(ResultSet row, int number) throws SQLException {
    return new Stop(
        row.getString("topic"),
        ResultSets.requiredInstant(row, "began_at"),
        row.getInt("unusable"),
        row.getInt("records"),
        row.getString("first_position"),
        row.getString("first_fault"),
        ResultSets.instant(row, "dead_letters_until"));
  }
}
