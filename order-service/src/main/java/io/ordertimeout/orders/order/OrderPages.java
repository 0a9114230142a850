package io.ordertimeout.orders.order;

import static io.ordertimeout.orders.platform.postgres.ResultSets.instant;
import static io.ordertimeout.orders.platform.postgres.ResultSets.parameter;

import io.ordertimeout.orders.suspension.ParkedOrders;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.core.simple.JdbcClient.StatementSpec;
import org.springframework.stereotype.Repository;

/**
 * Finds orders page by page in the order of an index. Conditions that no index carries are checked
 * on a limited number of orders for each page, so a page costs the same wherever it begins and
 * however rare a match is. Thread-safe.
 */
@Repository
public class OrderPages {

  /**
   * What to search for.
   *
   * @param states the states that an order may have
   * @param dueFrom earliest deadline, inclusive
   * @param dueTo latest deadline, exclusive
   * @param overdueAt the time before which they were due, with their grace; null for any
   * @param idFrom least id, inclusive
   * @param idTo greatest id, exclusive
   * @param channel the sales channel; null for any
   * @param currency the currency of the amount; null for any
   * @param amountFrom least amount, inclusive; null for any
   * @param amountTo greatest amount, inclusive; null for any
   * @param lateBy the least time from when a cancelled order was due to its decision; null for any
   *     order
   */
  public record Criteria(
      Set<OrderState> states,
      @Nullable Instant dueFrom,
      @Nullable Instant dueTo,
      @Nullable Instant overdueAt,
      String idFrom,
      String idTo,
      @Nullable String channel,
      @Nullable String currency,
      @Nullable BigDecimal amountFrom,
      @Nullable BigDecimal amountTo,
      @Nullable Duration lateBy) {}

  /**
   * Where an order is in each sequence.
   *
   * @param deadline its deadline; null if it has none, or while its creation is not known
   * @param lateMicros how late it was cancelled, in microseconds, if that is the sequence
   * @param row the id of its row
   */
  public record OrderKey(
      String orderId, @Nullable Instant deadline, @Nullable Long lateMicros, long row) {}

  /**
   * The result of a search.
   *
   * @param found the orders found, in order
   * @param last the last order that was checked; null if all orders were
   * @param checked how many orders were checked
   */
  public record Found(List<OrderKey> found, @Nullable OrderKey last, long checked) {}

  /**
   * A number of orders.
   *
   * @param orders how many of the checked orders match
   * @param checked how many orders were checked
   */
  public record Count(long orders, long checked) {}

  /** No order is later: ten thousand years, as far as Postgres can subtract times. */
  public static final long MAX_LATE_MICROS = 315_576_000_000_000_000L;

  private static final String COLUMNS =
      "o.id, o.order_id, o.deadline, o.grace_seconds, o.state, o.channel, o.currency, o.amount";

  // By state and deadline or, for pending orders, by shard and deadline, as the indexes are.
  private static final String BY_DEADLINE =
      """
      select s.state as stream, d.*, null::interval as lateness from unnest(:states::text[]) as s(state)
      cross join lateral (
        select %s from order_deadline o
        where o.state = s.state and o.state <> 'PENDING'
          and o.deadline >= coalesce(:dueFrom::timestamptz, '-infinity')
          and o.deadline < coalesce(:dueTo::timestamptz, 'infinity') %s
        order by o.deadline %s, o.id %s
        limit :window
      ) d
      union all
      select s.shard::text, d.*, null from generate_series(0, :shards - 1) as s(shard)
      cross join lateral (
        select %s from order_deadline o
        where o.shard = s.shard and o.state = 'PENDING' and 'PENDING' = any(:states::text[])
          and o.deadline >= coalesce(:dueFrom::timestamptz, '-infinity')
          and o.deadline < coalesce(:dueTo::timestamptz, 'infinity') %s
        order by o.deadline %s, o.id %s
        limit :window
      ) d
      """;

  private static final String BY_ID =
      """
      select '' as stream, %s, null::interval as lateness from order_deadline o
      where o.order_id >= :idFrom::text collate "C" and o.order_id < :idTo::text collate "C"
      order by o.order_id %s
      limit :window
      """;

  // Only orders that were cancelled a second late or later, as the index has them.
  private static final String BY_LATENESS =
      """
      select '' as stream, o.*, x.written_at - x.due_at as lateness
      from outbox x
      cross join lateral (
        select %s from order_deadline o where o.id = x.order_row
        -- Looked up for each, instead of joined.
        offset 0
      ) o
      where x.payment_id = '' and x.written_at - x.due_at >= interval '1 second'
        and x.written_at - x.due_at >= make_interval(secs => coalesce(:lateSeconds::float8, 0))
        %s
      order by x.written_at - x.due_at %s, x.order_row %s
      limit :window
      """;

  private static final String LATENESS =
      """
      (select x.written_at - x.due_at from outbox x
        where x.order_row = o.id and x.payment_id = '')""";

  private static final String MATCHES =
      """
      (o.state = any(:states::text[])
        and (:dueFrom::timestamptz is null or o.deadline >= :dueFrom)
        and (:dueTo::timestamptz is null or o.deadline < :dueTo)
        and (:overdueAt::timestamptz is null
          or o.deadline + make_interval(secs => coalesce(o.grace_seconds, 0)) < :overdueAt)
        and o.order_id >= :idFrom::text collate "C" and o.order_id < :idTo::text collate "C"
        and (:channel::text is null or o.channel = :channel)
        and (:currency::text is null or o.currency = :currency)
        and (:amountFrom::numeric is null or o.amount >= :amountFrom)
        and (:amountTo::numeric is null or o.amount <= :amountTo)
        and (:lateSeconds::float8 is null
          or %s >= make_interval(secs => :lateSeconds::float8))) is true
      """
          .formatted(LATENESS);

  // Nothing is known of what comes after the first window that is used up.
  private static final String PAGE =
      """
      with checked as materialized (
        select o.id, o.order_id, o.deadline, o.lateness, %2$s as matches,
          row_number() over (partition by o.stream order by %3$s) as position
        from (%1$s) o
      ), horizon as materialized (
        select o.id, o.order_id, o.deadline, o.lateness from checked o
        where o.position = :window
        order by %3$s
        limit 1
      ), searched as materialized (
        select o.*, o.id is not distinct from h.id as is_last
        from checked o left join horizon h on true
        where h.id is null or %4$s
      )
      select o.id, o.order_id, o.deadline, o.matches, o.is_last,
        (select count(*) from searched) as checked,
        (extract(epoch from o.lateness) * 1000000)::bigint as late_micros
      from searched o
      where o.matches or o.is_last
      order by %3$s
      limit :limit
      """;

  private static final String COUNT =
      """
      select count(*) filter (where %s) as orders, count(*) as checked
      from (select * from (%s) o limit :window) o
      """;

  private static final String ASCENDING_BY_DEADLINE =
      page(
          byDeadline(
              "and (o.deadline, o.id) > (coalesce(:after::timestamptz, '-infinity'), :afterRow)",
              "asc"),
          "o.deadline, o.id",
          "(o.deadline, o.id) <= (h.deadline, h.id)");

  private static final String DESCENDING_BY_DEADLINE =
      page(
          byDeadline(
              "and (o.deadline, o.id) < (coalesce(:after::timestamptz, 'infinity'), :afterRow)",
              "desc"),
          "o.deadline desc, o.id desc",
          "(o.deadline, o.id) >= (h.deadline, h.id)");

  private static final String ASCENDING_BY_ID =
      page(BY_ID.formatted(COLUMNS, "asc"), "o.order_id", "o.order_id <= h.order_id");

  private static final String DESCENDING_BY_ID =
      page(BY_ID.formatted(COLUMNS, "desc"), "o.order_id desc", "o.order_id >= h.order_id");

  private static final String ASCENDING_BY_LATENESS =
      page(
          byLateness(
              "and (x.written_at - x.due_at, x.order_row)"
                  + " > (make_interval(secs => coalesce(:after::float8, 0)), :afterRow)",
              "asc"),
          "o.lateness, o.id",
          "(o.lateness, o.id) <= (h.lateness, h.id)");

  private static final String DESCENDING_BY_LATENESS =
      page(
          byLateness(
              "and (x.written_at - x.due_at, x.order_row)"
                  + " < (make_interval(secs => coalesce(:after::float8, 315576000000)), :afterRow)",
              "desc"),
          "o.lateness desc, o.id desc",
          "(o.lateness, o.id) >= (h.lateness, h.id)");

  private static final String COUNT_BY_DEADLINE = COUNT.formatted(MATCHES, byDeadline("", "asc"));
  private static final String COUNT_BY_ID =
      COUNT.formatted(MATCHES, BY_ID.formatted(COLUMNS, "asc"));
  private static final String COUNT_BY_LATENESS = COUNT.formatted(MATCHES, byLateness("", "asc"));

  // By the order's id alone; otherwise, Postgres might read an index of the decided orders.
  private static final String IS_DECIDED =
      """
      exists (
        select from order_deadline d
        where d.order_id = p.order_id and (d.state <> 'PENDING') is true offset 0)""";

  private final JdbcClient client;
  private final ParkedOrders parked;

  OrderPages(JdbcClient client, ParkedOrders parked) {
    this.client = client;
    this.parked = parked;
  }

  private static String page(String stream, String order, String upToHorizon) {
    return PAGE.formatted(stream, MATCHES, order, upToHorizon);
  }

  private static String byDeadline(String after, String direction) {
    return BY_DEADLINE.formatted(
        COLUMNS, after, direction, direction, COLUMNS, after, direction, direction);
  }

  private static String byLateness(String after, String direction) {
    return BY_LATENESS.formatted(COLUMNS, after, direction, direction);
  }

  /**
   * Finds the parked orders that are not decided, by id.
   *
   * @param after the {@code next} of the page before; empty for the first page
   * @param limit maximum number of orders to return
   */
  public ParkedOrders.Page parked(String after, int limit) {
    return parked.page(after, limit, IS_DECIDED);
  }

  /**
   * Finds orders by deadline and row.
   *
   * @param descending whether the latest deadline comes first
   * @param after the last order of the page before; null for the first page
   * @param window how many orders are checked in each state, and of pending ones in each shard
   * @param limit maximum number of orders to return
   */
  public Found byDeadline(
      Criteria criteria,
      boolean descending,
      @Nullable OrderKey after,
      int shards,
      int window,
      int limit) {
    return page(
        statement(descending ? DESCENDING_BY_DEADLINE : ASCENDING_BY_DEADLINE, criteria, window)
            .param("shards", shards)
            .param("after", parameter(after == null ? null : after.deadline()))
            .param("afterRow", after == null ? 0 : after.row()),
        limit);
  }

  /**
   * Finds orders by id.
   *
   * @param descending whether the greatest id comes first
   * @param window how many orders are checked
   * @param limit maximum number of orders to return
   */
  public Found byId(Criteria criteria, boolean descending, int window, int limit) {
    return page(
        statement(descending ? DESCENDING_BY_ID : ASCENDING_BY_ID, criteria, window), limit);
  }

  /**
   * Finds orders that were cancelled a second late or later, by lateness and row.
   *
   * @param descending whether the greatest lateness comes first
   * @param after the last order of the page before; null for the first page
   * @param window how many orders are checked
   */
  public Found byLateness(
      Criteria criteria, boolean descending, @Nullable OrderKey after, int window, int limit) {
    Long afterMicros = after == null ? null : after.lateMicros();
    return page(
        statement(descending ? DESCENDING_BY_LATENESS : ASCENDING_BY_LATENESS, criteria, window)
            .param("after", afterMicros == null ? null : afterMicros / 1e6)
            .param("afterRow", after == null ? 0 : after.row()),
        limit);
  }

  /**
   * Counts orders; in no particular order if there are more than the window.
   *
   * @param window how many orders are checked
   */
  public Count count(Criteria criteria, int shards, int window) {
    return statement(COUNT_BY_DEADLINE, criteria, window)
        .param("shards", shards)
        .query(Count.class)
        .single();
  }

  /**
   * Counts the orders with ids in the range of the criteria.
   *
   * @param window how many orders are checked
   */
  public Count countById(Criteria criteria, int window) {
    return statement(COUNT_BY_ID, criteria, window).query(Count.class).single();
  }

  /**
   * Counts the orders that were cancelled a second late or later.
   *
   * @param window how many orders are checked
   */
  public Count countByLateness(Criteria criteria, int window) {
    return statement(COUNT_BY_LATENESS, criteria, window).query(Count.class).single();
  }

  private StatementSpec statement(String sql, Criteria criteria, int window) {
    Duration lateBy = criteria.lateBy();
    return client
        .sql(sql)
        .param("states", criteria.states().stream().map(Enum::name).toArray(String[]::new))
        .param("dueFrom", parameter(criteria.dueFrom()))
        .param("dueTo", parameter(criteria.dueTo()))
        .param("overdueAt", parameter(criteria.overdueAt()))
        .param("idFrom", criteria.idFrom())
        .param("idTo", criteria.idTo())
        .param("channel", criteria.channel())
        .param("currency", criteria.currency())
        .param("amountFrom", criteria.amountFrom())
        .param("amountTo", criteria.amountTo())
        .param("lateSeconds", lateBy == null ? null : lateBy.toMillis() / 1e3)
        .param("window", window);
  }

  private static Found page(StatementSpec statement, int limit) {
    List<OrderKey> found = new ArrayList<>();
    List<OrderKey> last = new ArrayList<>();
    List<Long> checked = new ArrayList<>();
    statement
        .param("limit", limit)
        .query(
            row -> {
              OrderKey key =
                  new OrderKey(
                      row.getString("order_id"),
                      instant(row, "deadline"),
                      row.getObject("late_micros", Long.class),
                      row.getLong("id"));
              if (row.getBoolean("matches")) {
                found.add(key);
              }
              if (row.getBoolean("is_last")) {
                last.add(key);
              }
              checked.add(row.getLong("checked"));
            });
    return new Found(
        found, last.isEmpty() ? null : last.get(0), checked.isEmpty() ? 0 : checked.get(0));
  }
}
