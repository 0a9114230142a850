package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.DatabaseClock;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.deadline.OrderDeadline;
import io.ordertimeout.orders.deadline.OrderDeadlineRepository;
import io.ordertimeout.orders.deadline.OrderState;
import io.ordertimeout.orders.expiry.ExpiryHolds;
import io.ordertimeout.orders.expiry.ExpiryPauses;
import io.ordertimeout.orders.expiry.Interruptions;
import io.ordertimeout.orders.expiry.ParkedOrders;
import io.ordertimeout.orders.operator.OperatorAction.Kind;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;
import tools.jackson.databind.JsonNode;

/**
 * All that is known of one order: how it stands, what happened to it, by whom and when, and what it
 * waits for. Put together from what the tables hold anyway; nothing is written for it alone.
 * Thread-safe.
 */
@Component
public class OrderHistory {

  /** What can happen to an order. */
  public enum Happening {
    /** The shop created it. */
    CREATED,
    /** Its first event was stored, and its deadline armed if it was pending. */
    REGISTERED,
    /** It was moved by an interruption or an operator. */
    EXTENDED,
    /** An operator asked for it to be cancelled. */
    CANCELLATION_REQUESTED,
    /** It is not to be decided for now. */
    PARKED,
    /** An operator let it be decided again. */
    RELEASED,
    /** The customer paid. */
    PAID,
    /** It was closed elsewhere, as stale, or by an operator. */
    CLOSED,
    /** It was cancelled. */
    CANCELLED,
    /** Kafka acknowledged its cancellation. */
    PUBLISHED,
    /** A payment found it cancelled or closed. */
    CONFLICT,
    /** Kafka acknowledged the conflict. */
    CONFLICT_PUBLISHED
  }

  /**
   * One thing that happened.
   *
   * @param at when; null if it was not noted
   * @param what what
   * @param by who or what did it
   * @param details the rest of what is known of it
   */
  public record Entry(
      @Nullable Instant at, Happening what, String by, Map<String, String> details) {}

  /**
   * An order with its history.
   *
   * @param order how it stands
   * @param movesBy by how much its deadline is still to move, because of interruptions; null if by
   *     nothing
   * @param waitsFor what stands between it and its decision, in words; empty if it is decided
   * @param history what happened, in order
   */
  public record Known(
      OrderView order, @Nullable Duration movesBy, List<String> waitsFor, List<Entry> history) {}

  private static final Map<Kind, Happening> DONE =
      Map.of(
          Kind.EXTEND_ORDER, Happening.EXTENDED,
          Kind.CANCEL_ORDER, Happening.CANCELLATION_REQUESTED,
          Kind.RELEASE_ORDER, Happening.RELEASED,
          Kind.CLOSE_ORDER, Happening.CLOSED);

  private static final String CONFLICTS =
      """
      select payment_id, paid_at, detected_at, published_at from payment_conflict
      where order_id = ? order by detected_at, payment_id
      """;

  private static final String APPLIED =
      """
      select i.began_at, i.ended_at, i.shard is null as paused
      from interruption i join order_deadline d on d.order_id = ?
      where (i.shard is null or i.shard = d.shard) and (i.channel is null or i.channel = d.channel)
        and i.ended_at > d.created_at and i.ended_at <= d.extended_until
        and i.began_at < d.deadline
      order by i.ended_at
      """;

  private static final String STILL_TO_APPLY =
      """
      select extract(epoch from s.length) as seconds
      from order_deadline d cross join lateral (%s) s
      where d.order_id = ? and s.length is not null
      """
          .formatted(Interruptions.STILL_TO_APPLY);

  private static final String PAUSED_BY =
      """
      select p.id, p.placed_by, p.reason, p.channel
      from order_deadline d cross join lateral (
        select id, placed_by, reason, p.channel %s) p
      where d.order_id = ? order by p.id
      """
          .formatted(ExpiryPauses.HOLDING);

  private final OrderDeadlineRepository orders;
  private final OperatorActions actions;
  private final ParkedOrders parked;
  private final ExpiryHolds holds;
  private final Reports reports;
  private final DatabaseClock clock;
  private final Duration settlementGrace;
  private final JdbcTemplate jdbc;

  OrderHistory(
      OrderDeadlineRepository orders,
      OperatorActions actions,
      ParkedOrders parked,
      ExpiryHolds holds,
      Reports reports,
      DatabaseClock clock,
      OrderTimeoutProperties properties,
      JdbcTemplate jdbc) {
    this.orders = orders;
    this.actions = actions;
    this.parked = parked;
    this.holds = holds;
    this.reports = reports;
    this.clock = clock;
    this.settlementGrace = properties.expiry().settlementGrace();
    this.jdbc = jdbc;
  }

  /** All that is known of the order of that id. */
  @Transactional(readOnly = true)
  public Optional<Known> find(String orderId) {
    return orders
        .findByOrderId(orderId)
        .map(
            order ->
                new Known(
                    OrderView.of(order),
                    movesBy(order),
                    order.state() == OrderState.PENDING ? waitsFor(order) : List.of(),
                    history(order)));
  }

  private @Nullable Duration movesBy(OrderDeadline order) {
    if (order.state() != OrderState.PENDING) {
      return null;
    }
    return jdbc
        .query(STILL_TO_APPLY, (rs, row) -> rs.getDouble("seconds"), order.orderId())
        .stream()
        .findFirst()
        .map(seconds -> Duration.ofMillis((long) (seconds * 1e3)))
        .orElse(null);
  }

  private List<String> waitsFor(OrderDeadline order) {
    List<String> reasons = new ArrayList<>();
    Instant due = Objects.requireNonNull(order.deadline()).plus(settlementGrace);
    Instant now = clock.ask();
    if (due.isAfter(now)) {
      reasons.add(
          "its payment deadline, in " + Duration.ofSeconds(Duration.between(now, due).toSeconds()));
    }
    parked
        .find(order.orderId())
        .ifPresent(
            p -> reasons.add("an operator to release it, since it is parked: " + p.reason()));
    jdbc.query(
        PAUSED_BY,
        rs -> {
          reasons.add(
              "the end of pause %d of %s by %s: %s"
                  .formatted(
                      rs.getLong("id"),
                      rs.getString("channel") == null ? "all channels" : "its channel",
                      rs.getString("placed_by"),
                      rs.getString("reason")));
        },
        order.orderId());
    holds.inForce().stream()
        .filter(hold -> hold.shard() == order.shard())
        .forEach(
            hold ->
                reasons.add(
                    "hold %d of its shard to be lifted: %s".formatted(hold.id(), hold.detail())));
    Optional<String> owner = reports.ownerOf(order.shard());
    if (owner.isEmpty()) {
      reasons.add("an instance that serves shard " + order.shard());
    } else if (reasons.isEmpty()) {
      reasons.add("the payment watermark of its shard, on instance " + owner.get());
    }
    return reasons;
  }

  private List<Entry> history(OrderDeadline order) {
    List<Entry> entries = new ArrayList<>();
    if (order.createdAt() != null) {
      entries.add(
          entry(order.createdAt(), Happening.CREATED, "shop", details("policy", order.policy())));
    }
    // Others may have subjects of the same name: pause 1 is not order 1.
    List<OperatorAction> done =
        actions.of(order.orderId()).stream().filter(a -> DONE.containsKey(a.kind())).toList();
    entries.add(
        entry(
            order.registeredAt(),
            Happening.REGISTERED,
            "intake",
            details("shard", order.shard(), "deadline", firstDeadline(order, done))));
    interruptions(order, entries);
    done.forEach(action -> entries.add(of(action)));
    parked
        .find(order.orderId())
        .ifPresent(
            p ->
                entries.add(
                    entry(
                        p.parkedAt(), Happening.PARKED, "service", details("reason", p.reason()))));
    decision(order, entries);
    conflicts(order, entries);
    // Nothing comes before it, though the clock of the shop that says when may be fast.
    entries.sort(
        Comparator.comparing((Entry entry) -> entry.what() != Happening.CREATED)
            .thenComparing(Entry::at, Comparator.nullsFirst(Comparator.naturalOrder())));
    return entries;
  }

  private void interruptions(OrderDeadline order, List<Entry> entries) {
    jdbc.query(
        APPLIED,
        rs -> {
          entries.add(
              entry(
                  instant(rs, "ended_at"),
                  Happening.EXTENDED,
                  rs.getBoolean("paused") ? "pause" : "outage",
                  details("from", instant(rs, "began_at"), "to", instant(rs, "ended_at"))));
        },
        order.orderId());
  }

  /** The deadline before anybody moved it; null if that is not known. */
  private static @Nullable String firstDeadline(OrderDeadline order, List<OperatorAction> done) {
    Instant deadline = order.deadline();
    if (order.createdAt() == null || deadline == null || order.extendedUntil() != null) {
      return null;
    }
    return done.stream()
        .map(action -> deadline(action.before()))
        .filter(before -> !before.isEmpty())
        .findFirst()
        .orElse(deadline.toString());
  }

  private static String deadline(@Nullable JsonNode of) {
    return of == null ? "" : of.path("deadline").asString("");
  }

  private static Entry of(OperatorAction action) {
    String before = deadline(action.before());
    String after = deadline(action.after());
    boolean moved = !before.equals(after);
    return entry(
        action.at(),
        Objects.requireNonNull(DONE.get(action.kind())),
        action.actor(),
        details(
            "reason",
            action.reason(),
            "before",
            moved ? before : null,
            "after",
            moved ? after : null));
  }

  private static void decision(OrderDeadline order, List<Entry> entries) {
    Instant at = order.decidedAt();
    switch (order.state()) {
      case PENDING -> {
        // Not decided yet.
      }
      case PAID ->
          entries.add(
              entry(
                  at,
                  Happening.PAID,
                  "payment " + order.paymentId(),
                  details("paidAt", order.paidAt())));
      case CLOSED -> {
        switch (Objects.requireNonNull(order.decidedBy())) {
          case OPERATOR -> {
            // The operator's action says it.
          }
          case STALE ->
              entries.add(
                  entry(
                      at,
                      Happening.CLOSED,
                      "intake",
                      details("reason", "first seen long after its deadline")));
          default ->
              entries.add(
                  entry(
                      at,
                      Happening.CLOSED,
                      "shop",
                      details("closedAt", order.closedAt(), "reason", order.closeReason())));
        }
      }
      case CANCELLED -> {
        entries.add(
            entry(at, Happening.CANCELLED, "expiry", details("deadline", order.deadline())));
        if (order.publishedAt() != null) {
          entries.add(entry(order.publishedAt(), Happening.PUBLISHED, "relay", Map.of()));
        }
      }
    }
  }

  private void conflicts(OrderDeadline order, List<Entry> entries) {
    jdbc.query(
        CONFLICTS,
        rs -> {
          String payment = rs.getString("payment_id");
          entries.add(
              entry(
                  instant(rs, "detected_at"),
                  Happening.CONFLICT,
                  "payment " + payment,
                  details("paidAt", instant(rs, "paid_at"))));
          Instant publishedAt = instant(rs, "published_at");
          if (publishedAt != null) {
            entries.add(
                entry(
                    publishedAt,
                    Happening.CONFLICT_PUBLISHED,
                    "relay",
                    details("payment", payment)));
          }
        },
        order.orderId());
  }

  private static Entry entry(
      @Nullable Instant at, Happening what, String by, Map<String, String> details) {
    return new Entry(at, what, by, details);
  }

  /** Pairs of names and values, without those that are not known. */
  private static Map<String, String> details(@Nullable Object... pairs) {
    Map<String, String> details = new TreeMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      Object value = pairs[i + 1];
      if (value != null && !value.toString().isEmpty()) {
        details.put(String.valueOf(pairs[i]), value.toString());
      }
    }
    return details;
  }

  private static @Nullable Instant instant(ResultSet rs, String column) throws SQLException {
    OffsetDateTime time = rs.getObject(column, OffsetDateTime.class);
    return time == null ? null : time.toInstant();
  }
}
