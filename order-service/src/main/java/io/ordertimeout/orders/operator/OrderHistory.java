package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.audit.AuditLog;
import io.ordertimeout.orders.audit.OperatorAction;
import io.ordertimeout.orders.audit.OperatorAction.Kind;
import io.ordertimeout.orders.deadline.OrderDeadline;
import io.ordertimeout.orders.suspension.ParkedOrders;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;
import tools.jackson.databind.JsonNode;

/**
 * What happened to one order, by whom and when. Put together from what the tables hold anyway;
 * nothing is written for it alone. Thread-safe.
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

  private final AuditLog actions;
  private final ParkedOrders parked;
  private final JdbcTemplate jdbc;

  OrderHistory(AuditLog actions, ParkedOrders parked, JdbcTemplate jdbc) {
    this.actions = actions;
    this.parked = parked;
    this.jdbc = jdbc;
  }

  /** What happened to an order, in order. */
  List<Entry> of(OrderDeadline order) {
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
    done.forEach(action -> entries.add(done(action)));
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

  private static Entry done(OperatorAction action) {
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
