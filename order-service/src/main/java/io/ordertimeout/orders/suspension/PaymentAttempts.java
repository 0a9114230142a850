package io.ordertimeout.orders.suspension;

import static io.ordertimeout.orders.platform.postgres.ResultSets.instant;
import static io.ordertimeout.orders.platform.postgres.ResultSets.parameter;
import static io.ordertimeout.orders.platform.postgres.ResultSets.texts;

import io.ordertimeout.orders.OrderTimeoutProperties;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * The payment attempts of orders. An order of which one is under way is not cancelled. Nothing of
 * the order changes meanwhile: a statement that cancels looks attempts up. Of the events of an
 * attempt, the last one in its partition counts. Thread-safe.
 */
@Repository
public class PaymentAttempts {

  /**
   * An attempt, as it is stored.
   *
   * @param attemptId its id; empty if the shop does not tell attempts apart
   * @param startedAt when its first event was recorded; null if only its end was read
   * @param until until when it is under way unless it ends before; null if only its end was read
   * @param endedAt when it ended; null if it has not, or not been read to have
   */
  public record Attempt(
      String attemptId,
      @Nullable Instant startedAt,
      @Nullable Instant until,
      @Nullable Instant endedAt) {}

  /** An attempt with its order. */
  private record OfOrder(String orderId, Attempt attempt) {}

  /** The attempts that keep the order {@code d} waiting, and until when. */
  private static final String OPEN =
      """
      from payment_attempt a
      where a.order_id = d.order_id and a.ended_at is null""";

  /** Until when the attempt {@code a} keeps the order {@code d} waiting. */
  private static final String HELD_UNTIL =
      "least(a.until, d.deadline + make_interval(secs => :capSeconds))";

  /** Until when the attempt {@code a}, which may have ended, has kept the order {@code d}. */
  private static final String WAS_HELD_UNTIL =
      "least(a.until, a.ended_at, d.deadline + make_interval(secs => :capSeconds))";

  /** SQL condition: the shop has confirmed that nothing can be paid any more. */
  private static final String CONFIRMED =
      """
      exists (
        select from payment_attempt a
        where a.order_id = d.order_id and a.attempt_id = '' and a.ended_at is not null
        offset 0)""";

  /** SQL expression: until when the order {@code d} waits for a confirmation; null if not. */
  private static final String CONFIRM_BY =
      """
      case when d.confirm_seconds is not null and not %s
        then d.deadline + make_interval(secs => d.confirm_seconds) end"""
          .formatted(CONFIRMED);

  private static final String END_ALL =
      """
      update payment_attempt a set ended_at = e.ended_at
      from unnest(:orderIds::text[], :endedAts::timestamptz[]) as e(order_id, ended_at)
      where a.order_id = any(:orderIds::text[]) and a.order_id = e.order_id and a.ended_at is null
      """;

  private static final String STORE =
      """
      insert into payment_attempt as a (order_id, attempt_id, started_at, until, ended_at)
      select * from unnest(
        :orderIds::text[], :attemptIds::text[], :startedAts::timestamptz[], :untils::timestamptz[],
        :endedAts::timestamptz[]) as i(order_id, attempt_id, started_at, until, ended_at)
      order by i.order_id, i.attempt_id
      on conflict (order_id, attempt_id) do update set
        started_at = coalesce(a.started_at, excluded.started_at),
        until = coalesce(excluded.until, a.until),
        ended_at = excluded.ended_at
      """;

  private static final String OF_ORDER =
      """
      select attempt_id, started_at, until, ended_at from payment_attempt
      where order_id = ?
      order by coalesce(started_at, ended_at), attempt_id
      limit 100
      """;

  private static final String DELETE =
      "delete from payment_attempt where order_id = any(:orderIds::text[])";

  private static final String PURGE =
      """
      delete from payment_attempt where order_id = any(array(
        select order_id from payment_attempt a where a.stored_at < :before and %s
        order by a.stored_at limit 5000))
      """;

  private final JdbcClient client;
  private final boolean areRead;
  private final Duration cap;

  PaymentAttempts(JdbcClient client, OrderTimeoutProperties properties) {
    this.client = client;
    this.areRead = properties.topics().haveAttempts();
    this.cap = properties.attempts().cap();
  }

  /** Whether there is a topic of attempts. */
  public boolean areRead() {
    return areRead;
  }

  /**
   * Returns the SQL condition, behind others, that neither an attempt nor the lack of a
   * confirmation keeps the order {@code d} waiting at a time; empty, so that it costs nothing, if
   * there is no topic of attempts. It needs the {@link #parameters}.
   *
   * @param time SQL expression of the time
   */
  public String andNoneUnderWay(String time) {
    return areRead
        ? "\nand not exists (select %s and %s > %s offset 0)\nand coalesce(%s <= %s, true)"
            .formatted(OPEN, HELD_UNTIL, time, CONFIRM_BY, time)
        : "";
  }

  /**
   * Returns the SQL expression of the time until which attempts keep the order {@code d} waiting;
   * null if none does. It needs the {@link #parameters}.
   */
  public String heldUntil() {
    return areRead
        ? "greatest((select max(%s) %s), %s)".formatted(HELD_UNTIL, OPEN, CONFIRM_BY)
        : "null::timestamptz";
  }

  /**
   * Returns the SQL expression of the time until which attempts have kept the order {@code d}
   * waiting; null if none has. It needs the {@link #parameters}.
   */
  public String wasHeldUntil() {
    return areRead
        ? "greatest((select max(%s) from payment_attempt a where a.order_id = d.order_id), %s)"
            .formatted(WAS_HELD_UNTIL, CONFIRM_BY)
        : "null::timestamptz";
  }

  /**
   * Returns the SQL condition, behind others, that the order {@code d} may be cancelled although it
   * may lack a confirmation; empty if there is no topic of attempts.
   */
  public String andConfirmed() {
    return areRead
        ? "\nand (d.confirm_seconds is null or d.cancel_unconfirmed or %s)".formatted(CONFIRMED)
        : "";
  }

  /**
   * Returns the SQL condition, behind others, that the confirmation for which the order {@code d}
   * waits did not come in time; empty if there is no topic of attempts. It needs the {@link
   * #parameters}.
   *
   * @param time SQL expression of the time
   */
  public String andUnconfirmed(String time) {
    return areRead ? "\nand %s <= %s".formatted(CONFIRM_BY, time) : "";
  }

  /** Returns the parameters of the conditions and expressions. */
  public Map<String, ?> parameters() {
    return areRead ? Map.of("capSeconds", cap.toMillis() / 1e3) : Map.of();
  }

  /** Stores events in the order of their arrival; needs a surrounding transaction. */
  public void store(List<PaymentAttempt> events) {
    Map<String, Map<String, Attempt>> byOrder = new HashMap<>();
    Map<String, Instant> ends = new HashMap<>();
    for (PaymentAttempt event : events) {
      Map<String, Attempt> attempts =
          byOrder.computeIfAbsent(event.orderId(), order -> new HashMap<>());
      if (event.isEnd() && event.attemptId().isEmpty()) {
        ends.put(event.orderId(), event.recordedAt());
        attempts.replaceAll((id, attempt) -> ended(attempt, event.recordedAt()));
      }
      attempts.merge(event.attemptId(), attempt(event), PaymentAttempts::followed);
    }
    if (!ends.isEmpty()) {
      client
          .sql(END_ALL)
          .param("orderIds", texts(ends.keySet(), orderId -> orderId))
          .param("endedAts", texts(ends.values(), end -> end))
          .update();
    }
    List<OfOrder> stored = new ArrayList<>();
    byOrder.forEach(
        (orderId, attempts) ->
            attempts.values().forEach(attempt -> stored.add(new OfOrder(orderId, attempt))));
    client
        .sql(STORE)
        .param("orderIds", texts(stored, OfOrder::orderId))
        .param("attemptIds", texts(stored, each -> each.attempt.attemptId()))
        .param("startedAts", texts(stored, each -> each.attempt.startedAt()))
        .param("untils", texts(stored, each -> each.attempt.until()))
        .param("endedAts", texts(stored, each -> each.attempt.endedAt()))
        .update();
  }

  private static Attempt attempt(PaymentAttempt event) {
    return event.isEnd()
        ? new Attempt(event.attemptId(), null, null, event.recordedAt())
        : new Attempt(event.attemptId(), event.recordedAt(), event.until(), null);
  }

  private static Attempt followed(Attempt by, Attempt event) {
    return new Attempt(
        by.attemptId(),
        by.startedAt() == null ? event.startedAt() : by.startedAt(),
        event.until() == null ? by.until() : event.until(),
        event.endedAt());
  }

  private static Attempt ended(Attempt attempt, Instant at) {
    return attempt.endedAt() == null
        ? new Attempt(attempt.attemptId(), attempt.startedAt(), attempt.until(), at)
        : attempt;
  }

  /** Returns at most 100 attempts of an order, in the order of their beginning. */
  public List<Attempt> of(String orderId) {
    return client
        .sql(OF_ORDER)
        .param(orderId)
        .query(
            (row, number) ->
                new Attempt(
                    row.getString("attempt_id"),
                    instant(row, "started_at"),
                    instant(row, "until"),
                    instant(row, "ended_at")))
        .list();
  }

  /**
   * Returns those attempts that keep an order with that deadline from being cancelled, with the
   * times until which they do. At most 100 attempts are looked at.
   */
  public List<Attempt> underWay(String orderId, Instant deadline, Instant now) {
    if (!areRead) {
      return List.of();
    }
    Instant latest = deadline.plus(cap);
    List<Attempt> underWay = new ArrayList<>();
    for (Attempt attempt : of(orderId)) {
      Instant until = attempt.until();
      if (until != null && attempt.endedAt() == null) {
        Instant held = until.isBefore(latest) ? until : latest;
        if (held.isAfter(now)) {
          underWay.add(new Attempt(attempt.attemptId(), attempt.startedAt(), held, null));
        }
      }
    }
    return underWay;
  }

  /** Whether the shop has confirmed that nothing can be paid any more. */
  public boolean isConfirmed(String orderId) {
    return of(orderId).stream()
        .anyMatch(attempt -> attempt.attemptId().isEmpty() && attempt.endedAt() != null);
  }

  /** Deletes the attempts of orders, because these are deleted too. */
  public void deleteAll(String... orderIds) {
    client.sql(DELETE).param("orderIds", orderIds).update();
  }

  /**
   * Deletes the attempts of at most 5,000 orders that were stored before a time; returns how many.
   *
   * @param unneeded SQL condition on the attempt {@code a}: it is not needed any more
   */
  public int purge(Instant before, String unneeded) {
    return client.sql(PURGE.formatted(unneeded)).param("before", parameter(before)).update();
  }
}
