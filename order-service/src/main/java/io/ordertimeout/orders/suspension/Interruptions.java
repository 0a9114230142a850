package io.ordertimeout.orders.suspension;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;

/**
 * The times in which customers are not held to their deadlines, once they are over: outages and
 * pauses, where they are to extend them. A deadline moves when it is reached, not before: by the
 * part of all those times that its order lived through, each moment once. Thread-safe.
 */
@Repository
public class Interruptions {

  // Not one that was due before it began: its customer had the whole time.
  private static final String UNAPPLIED =
      """
      (i.shard is null or i.shard = d.shard) and (i.channel is null or i.channel = d.channel)
            and i.began_at < d.deadline and i.ended_at > greatest(d.created_at, d.extended_until)""";

  /** To be part of a statement in which {@code d} is an order. */
  public static final String NONE_LEFT =
      "not exists (select from interruption i where %s)".formatted(UNAPPLIED);

  /**
   * To be joined laterally in a statement in which {@code d} is an order: the interruptions that
   * its deadline is still to move by, how far in {@code length} and the end of the last in {@code
   * until}; both null if there are none.
   */
  public static final String STILL_TO_APPLY =
      """
      select sum(upper(r) - lower(r)) as length, max(upper(r)) as until
      from (
        select unnest(range_agg(tstzrange(greatest(i.began_at, d.created_at), i.ended_at))) as r
        from interruption i where %s
      ) lived_through
      """
          .formatted(UNAPPLIED);

  private static final String EXTEND =
      """
      with locked as (
        select order_id, shard, channel, created_at, deadline, extended_until
        from order_deadline d
        where id = any(?::bigint[]) and shard = ? and state = 'PENDING' and %s
        order by id
        for update skip locked
      )
      update order_deadline e set deadline = x.deadline, extended_until = x.until
      from (
        select d.order_id, d.deadline + s.length as deadline, s.until
        from locked d cross join lateral (%s) s
        where s.length is not null
      ) x
      where e.order_id = x.order_id
      """
          .formatted(ExpiryPauses.NOT_PAUSED, STILL_TO_APPLY);

  private final JdbcTemplate jdbc;

  Interruptions(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  /** Extends the deadlines of those of the orders that lived through an interruption since. */
  public void extend(int shard, long[] ids) {
    jdbc.update(EXTEND, ids, shard);
  }
}
