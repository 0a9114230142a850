package io.ordertimeout.it.support;

/** The rows of pauses and holds, which tests count, place and end past the service. */
public final class SuspensionRows {

  /** SQL query: how many pauses there are, in force or ended. */
  public static final String PAUSES = "select count(*) from suspension where shard is null";

  /** SQL query: how many pauses nobody has ended. */
  public static final String PAUSES_IN_FORCE = PAUSES + " and ended_at is null";

  /** SQL query: how many holds there are, in force or lifted. */
  public static final String HOLDS = "select count(*) from suspension where shard is not null";

  /** SQL query: how many holds nobody has lifted. */
  public static final String HOLDS_IN_FORCE = HOLDS + " and ended_at is null";

  private SuspensionRows() {}

  /** Holds a shard, as the service does because of lost records. */
  public static void hold(Database database, int shard, String detail) {
    database.execute(
        """
        insert into suspension (shard, placed_by_kind, placed_by, reason, moves_deadlines)
        values (?, 'SERVICE', 'service', ?, false)
        """,
        shard,
        detail);
  }

  /** Lifts all holds; returns how many were in force. */
  public static int liftHolds(Database database) {
    return database.execute(
        "update suspension set ended_at = clock_timestamp() where shard is not null and ended_at is null");
  }
}
