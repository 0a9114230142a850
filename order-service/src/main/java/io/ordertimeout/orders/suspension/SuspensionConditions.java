package io.ordertimeout.orders.suspension;

/**
 * The rule that an order must not be cancelled while a suspension concerns it, for statements about
 * orders. In all of it, {@code s} is a suspension and {@code d} an order with its {@code channel}
 * and {@code shard}.
 */
public final class SuspensionConditions {

  /** SQL expression: when the suspension {@code s} ends or ended; infinity if nobody knows. */
  static final String END = "coalesce(s.ended_at, s.ends_at, 'infinity')";

  // now() is stable, so that the index bounds the comparison: clock_timestamp() would read all
  // suspensions there have been.
  /** SQL condition: the suspension {@code s} is in force. */
  static final String IS_IN_FORCE = END + " > now()";

  /** SQL query: {@code channel} and {@code shard} of the suspensions {@code s} in force. */
  public static final String IN_FORCE =
      "select s.channel, s.shard from suspension s where " + IS_IN_FORCE;

  /** SQL query: {@code channel}, {@code moves_deadlines}, {@code began_at} of the pause :pause. */
  public static final String PAUSE =
      """
      select s.channel, s.moves_deadlines, s.began_at from suspension s
      where s.id = :pause and s.shard is null""";

  /** SQL query: those in force but the pause {@code :pause}, as {@link #IN_FORCE}. */
  public static final String OTHERS_IN_FORCE = IN_FORCE + " and s.id <> :pause";

  /** SQL query: the {@code shard} of each hold in force. */
  public static final String HELD_SHARDS =
      "select s.shard from suspension s where %s and s.shard is not null".formatted(IS_IN_FORCE);

  /** SQL condition: the suspension {@code s} concerns the order {@code d}. */
  public static final String CONCERNS =
      "(s.channel is null or s.channel = d.channel) and (s.shard is null or s.shard = d.shard)";

  /** SQL condition: a suspension in force concerns the order {@code d}. */
  public static final String IS_SUSPENDED =
      "exists (select from suspension s where %s and %s)".formatted(IS_IN_FORCE, CONCERNS);

  /** SQL condition: no suspension in force concerns the order {@code d}. */
  public static final String NOT_SUSPENDED = "not " + IS_SUSPENDED;

  /**
   * SQL condition of a statement that cancels: no pause is being placed. It is always met, for the
   * statement waits until that is so: it takes a lock on the table, which {@link Suspensions#place}
   * excludes, and Postgres takes all locks on tables before the snapshot that the statement reads.
   */
  public static final String NONE_BEING_PLACED =
      "not exists (select from suspension where false for key share)";

  private SuspensionConditions() {}
}
