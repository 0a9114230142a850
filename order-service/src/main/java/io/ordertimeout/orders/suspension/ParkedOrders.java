package io.ordertimeout.orders.suspension;

import static io.ordertimeout.orders.platform.postgres.ResultSets.parameter;
import static io.ordertimeout.orders.platform.postgres.ResultSets.requiredInstant;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * Orders that must not be cancelled for now, each for its own reason: Postgres rejects the row that
 * would settle or cancel the order, or an event of a settling topic about it cannot be decoded. A
 * parked order can still be paid or closed. It stays parked until an operator releases it; other
 * orders are not affected. Thread-safe.
 */
@Repository
public class ParkedOrders {

  /**
   * SQL condition: the order {@code d} is not parked. {@code offset 0} has it looked up for each
   * order; joined, all parked orders would be read where Postgres expects few of them.
   */
  public static final String NOT_PARKED =
      "not exists (select from parked_order p where p.order_id = d.order_id offset 0)";

  /**
   * The same for statements that read thousands of orders: while no order is parked at all, none is
   * looked up. The oldest one is read, by its index, which skips those that were released.
   */
  public static final String NOT_PARKED_OF_MANY =
      "((select p.parked_at from parked_order p order by p.parked_at limit 1) is null or %s)"
          .formatted(NOT_PARKED);

  /**
   * SQL query: the {@code order_id} of the orders that were parked first and last, at most {@code
   * :window} of each.
   */
  public static final String FIRST_AND_LAST =
      """
      (select order_id from parked_order order by parked_at limit :window)
        union (select order_id from parked_order order by parked_at desc limit :window)""";

  /**
   * A parked order.
   *
   * @param orderId the order's id
   * @param shard the order's shard
   * @param reason why the order must not be cancelled
   * @param parkedAt since when
   */
  public record Parked(String orderId, int shard, String reason, Instant parkedAt) {}

  /**
   * Parked orders that are not decided, by id.
   *
   * @param orders the orders
   * @param next the id after which the next page begins; null if this is the last
   */
  public record Page(List<Parked> orders, @Nullable String next) {}

  private record Checked(Parked order, boolean isDecided, boolean isLast) {}

  private static final int MAX_REASON = 1_000;

  /** How many orders a page may check; parked orders are kept for as long as their decisions. */
  private static final int MOST_CHECKED = 2_000;

  private static final String PARK =
      """
      insert into parked_order (order_id, shard, reason)
      select order_id, ?, ? from unnest(?::text[]) order_id on conflict do nothing
      """;

  private static final String FIND =
      "select order_id, shard, reason, parked_at from parked_order where order_id = ?";

  // Reads on by the index, and checks orders one by one, until the page is full.
  private static final String PAGE =
      """
      select * from (
        select p.order_id, p.shard, p.reason, p.parked_at, %s as is_decided,
          row_number() over (order by p.order_id) = :window as is_last
        from (
          select * from parked_order
          where order_id > :after::text collate "C" order by order_id limit :window
        ) p
      ) p
      where not is_decided or is_last
      order by order_id
      limit :limit
      """;

  private static final String RELEASE = "delete from parked_order where order_id = ?";

  private static final String RELEASE_ALL =
      "delete from parked_order where order_id = any(?::text[])";

  private static final String PURGE =
      """
      delete from parked_order where order_id = any(array(
        select order_id from parked_order p where p.parked_at < ? and %s
        order by p.parked_at limit 5000))
      """;

  private final JdbcTemplate jdbc;
  private final JdbcClient client;

  ParkedOrders(JdbcTemplate jdbc, JdbcClient client) {
    this.jdbc = jdbc;
    this.client = client;
  }

  /** Parks orders, which need not be known yet. An order that is parked keeps its first reason. */
  public void park(Collection<String> orderIds, int shard, String reason) {
    jdbc.update(PARK, shard, shortened(reason), orderIds.toArray(String[]::new));
  }

  /** Finds a parked order. */
  public Optional<Parked> find(String orderId) {
    return jdbc.query(FIND, ParkedOrders::parked, orderId).stream().findFirst();
  }

  /**
   * Returns parked orders that are not decided and have greater ids than {@code after}, by id. A
   * page checks a limited number of orders, so it may be short, or even empty, and not the last.
   *
   * @param limit maximum number of orders on the page
   * @param isDecided SQL condition: the parked order {@code p} is decided
   */
  public Page page(String after, int limit, String isDecided) {
    List<Checked> found =
        client
            .sql(PAGE.formatted(isDecided))
            .param("after", after)
            .param("window", MOST_CHECKED)
            .param("limit", limit + 1)
            .query(
                (row, number) ->
                    new Checked(
                        parked(row, number),
                        row.getBoolean("is_decided"),
                        row.getBoolean("is_last")))
            .list();
    List<Parked> orders =
        found.stream().filter(row -> !row.isDecided).map(Checked::order).limit(limit).toList();
    if (found.size() > limit) {
      return new Page(orders, orders.get(limit - 1).orderId());
    }
    return new Page(
        orders,
        found.stream()
            .filter(Checked::isLast)
            .map(row -> row.order.orderId())
            .findFirst()
            .orElse(null));
  }

  /** Lets the order be decided again. */
  public void release(String orderId) {
    jdbc.update(RELEASE, orderId);
  }

  /** Deletes what parked the orders, because they are deleted too. */
  public void releaseAll(String... orderIds) {
    jdbc.update(RELEASE_ALL, (Object) orderIds);
  }

  /**
   * Deletes at most 5,000 orders that were parked before a time; returns how many.
   *
   * @param unneeded SQL condition on the parked order {@code p}: it need not be parked any more
   */
  public int purge(Instant before, String unneeded) {
    return jdbc.update(PURGE.formatted(unneeded), parameter(before));
  }

  private static Parked parked(ResultSet row, int rowNumber) throws SQLException {
    return new Parked(
        row.getString("order_id"),
        row.getInt("shard"),
        row.getString("reason"),
        requiredInstant(row, "parked_at"));
  }

  private static String shortened(String reason) {
    return reason.codePointCount(0, reason.length()) <= MAX_REASON
        ? reason
        : reason.substring(0, reason.offsetByCodePoints(0, MAX_REASON));
  }
}
