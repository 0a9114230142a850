package io.ordertimeout.orders.suspension;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;

/**
 * Orders that must not be cancelled for now: Postgres refuses to have them settled or cancelled, or
 * a payment or closing of them cannot be decoded. They stay as they are, with the reason, until an
 * operator has mended what stands against it and deletes them here; the others proceed.
 * Thread-safe.
 */
@Repository
public class ParkedOrders {

  /** To be part of a statement in which {@code d} is an order. */
  public static final String NOT_PARKED =
      "not exists (select from parked_order p where p.order_id = d.order_id)";

  /**
   * A parked order.
   *
   * @param orderId its id
   * @param shard its shard
   * @param reason why
   * @param parkedAt since when
   */
  public record Parked(String orderId, int shard, String reason, Instant parkedAt) {}

  private static final int MAX_REASON = 1_000;

  private static final String PARK =
      """
      insert into parked_order (order_id, shard, reason)
      select order_id, ?, ? from unnest(?::text[]) order_id on conflict do nothing
      """;

  private static final String PARK_ROW =
      """
      insert into parked_order (order_id, shard, reason)
      select order_id, shard, ? from order_deadline where id = ? and shard = ?
      on conflict do nothing
      """;

  private static final String COUNT =
      """
      select count(*) from parked_order p join order_deadline d on d.order_id = p.order_id
      where d.state = 'PENDING' and d.shard = any(?::int[])
      """;

  private static final String FIND =
      "select order_id, shard, reason, parked_at from parked_order where order_id = ?";

  private static final String PAGE =
      """
      select order_id, shard, reason, parked_at from parked_order
      where order_id > ? collate "C" order by order_id limit ?
      """;

  private static final String RELEASE = "delete from parked_order where order_id = ?";

  private final JdbcTemplate jdbc;

  ParkedOrders(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  /**
   * Parks orders that may not be cancelled, since a payment or closing of them cannot be stored.
   * Orders that are not known yet can be parked too.
   */
  public void park(Collection<String> orderIds, int shard, String reason) {
    jdbc.update(PARK, shard, shortened(reason), orderIds.toArray(String[]::new));
  }

  /** Parks a due order that cannot be cancelled. */
  public void park(int shard, long id, String reason) {
    jdbc.update(PARK_ROW, shortened(reason), id, shard);
  }

  /** How many pending orders of those shards are parked. */
  public long count(Set<Integer> shards) {
    int[] some = shards.stream().mapToInt(Integer::intValue).toArray();
    return Objects.requireNonNull(jdbc.queryForObject(COUNT, Long.class, (Object) some));
  }

  /** The parked order of that id. */
  public Optional<Parked> find(String orderId) {
    return jdbc.query(FIND, ParkedOrders::parked, orderId).stream().findFirst();
  }

  /** At most {@code limit} parked orders behind that id, by their ids. */
  public List<Parked> page(String after, int limit) {
    return jdbc.query(PAGE, ParkedOrders::parked, after, limit);
  }

  /** Lets the order be decided again. */
  public void release(String orderId) {
    jdbc.update(RELEASE, orderId);
  }

  private static Parked parked(ResultSet rs, int rowNumber) throws SQLException {
    return new Parked(
        rs.getString("order_id"),
        rs.getInt("shard"),
        rs.getString("reason"),
        rs.getObject("parked_at", OffsetDateTime.class).toInstant());
  }

  private static String shortened(String reason) {
    return reason.codePointCount(0, reason.length()) <= MAX_REASON
        ? reason
        : reason.substring(0, reason.offsetByCodePoints(0, MAX_REASON));
  }
}
