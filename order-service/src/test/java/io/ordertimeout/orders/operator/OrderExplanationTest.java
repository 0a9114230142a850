package io.ordertimeout.orders.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.audit.OperatorAction;
import io.ordertimeout.orders.audit.OperatorAction.Kind;
import io.ordertimeout.orders.order.DecidedBy;
import io.ordertimeout.orders.order.OrderChanges.Made;
import io.ordertimeout.orders.order.OrderState;
import io.ordertimeout.orders.order.OrderView;
import io.ordertimeout.orders.order.PaymentConflicts.Conflict;
import io.ordertimeout.orders.order.PaymentConflicts.PaymentWithoutEffect;
import io.ordertimeout.orders.order.Publication;
import io.ordertimeout.orders.outbox.EventId;
import io.ordertimeout.orders.suspension.Interruptions.Interruption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class OrderExplanationTest {

  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final Instant CREATED = at("10:00:00");

  private final List<OperatorAction> actions = new ArrayList<>();
  private final List<OperatorAction> replays = new ArrayList<>();
  private final List<Interruption> interruptions = new ArrayList<>();
  private final List<Conflict> conflicts = new ArrayList<>();
  private final List<PaymentWithoutEffect> withoutEffect = new ArrayList<>();
  private final List<Made> changes = new ArrayList<>();
  private final List<OrderBlocker> blockers = new ArrayList<>();
  private @Nullable String policy = "TIMEOUT";
  private @Nullable Instant createdAt = CREATED;
  private Instant deadline = at("10:15:00");
  private @Nullable Duration grace;
  private @Nullable Instant decidedAt;
  private @Nullable DecidedBy decidedBy;
  private @Nullable String paymentId;
  private @Nullable Instant extendedUntil;
  private @Nullable Instant paidAt;
  private @Nullable Instant closedAt;
  private @Nullable String closeReason;
  private @Nullable Instant publishedAt;

  @Test
  void anOrderThatWasNotPaid() {
    cancelled("10:15:00.012");

    assertThat(explain(OrderState.CANCELLED))
        .isEqualTo(
            "Not paid by 2026-11-24T10:15:00.000Z (set by the order's own timeout); all payments up to"
                + " then had been read; cancelled 12 ms later; published 40 ms later as event "
                + EventId.ofCancellation("order")
                + ".");
  }

  @Test
  void aCancellationThatIsNotPublished() {
    cancelled("10:15:02");
    publishedAt = null;
    policy = "card";

    assertThat(explain(OrderState.CANCELLED))
        .contains("(set by policy “card”)", "cancelled 2 s later; not published yet.");
  }

  @Test
  void aCancellationAfterAGrace() {
    cancelled("10:20:00.010");
    grace = Duration.ofMinutes(5);

    assertThat(explain(OrderState.CANCELLED))
        .contains("own timeout); nor within a grace of 5 min after it; all payments up to then");
  }

  @Test
  void anOrderInItsGrace() {
    grace = Duration.ofMinutes(5);
    blockers.add(new OrderBlocker.PaymentDeadline(at("10:20:00")));

    assertThat(explain(OrderState.PENDING))
        .contains("own timeout); not cancelled before 2026-11-24T10:20:00.000Z, after a grace");
  }

  @Test
  void anOrderThatTheShopHasChanged() {
    deadline = at("11:00:00");
    changes.add(
        new Made(
            at("10:01:00"),
            at("10:00:59"),
            "PAY_BY",
            null,
            null,
            null,
            at("10:15:00"),
            at("11:00:00"),
            null));

    assertThat(explain(OrderState.PENDING))
        .contains("2026-11-24T11:00:00.000Z (set by the order's own timeout, moved by the shop)");
  }

  @Test
  void anOrderOfWhichPaymentsAreUnderWay() {
    blockers.add(new OrderBlocker.PaymentUnderWay("pi-1", at("10:20:00")));
    blockers.add(new OrderBlocker.PaymentUnderWay(null, at("10:21:00")));

    assertThat(explain(OrderState.PENDING))
        .contains(
            "payment attempt “pi-1” is under way, so that it is not cancelled before"
                + " 2026-11-24T10:20:00.000Z; a payment is under way, so");
  }

  @Test
  void anExemptOrder() {
    policy = "invoice";
    decidedAt = at("10:00:01");
    withoutEffect.add(new PaymentWithoutEffect("p", at("11:00:00"), at("11:00:01")));

    assertThat(explain(OrderState.CLOSED))
        .isEqualTo(
            "Exempt by policy “invoice”: it has no deadline and is not cancelled; registered at"
                + " 2026-11-24T10:00:01.000Z; payment “p” made at 2026-11-24T11:00:00.000Z,"
                + " arrived at 2026-11-24T11:00:01.000Z.");
  }

  @Test
  void aRequestedCancellation() {
    cancelled("10:05:00.300");
    deadline = at("10:05:00");
    extendedUntil = deadline;
    act(Kind.CANCEL_ORDER, "10:05:00.001", "fraud", at("10:15:00"), deadline, null);

    assertThat(explain(OrderState.CANCELLED))
        .startsWith(
            "Operator “anna” requested the cancellation at 2026-11-24T10:05:00.001Z: “fraud”; not paid"
                + " by 2026-11-24T10:05:00.000Z (set by the order's own timeout, moved by operator"
                + " “anna”); all payments");
  }

  @Test
  void paymentsThatCameTooLate() {
    cancelled("10:15:00.012");
    conflicts.add(new Conflict("p-1", at("10:14:59"), at("10:16:00"), published("10:16:00.020")));
    conflicts.add(new Conflict("p-2", at("10:15:01"), at("10:17:00"), null));

    assertThat(explain(OrderState.CANCELLED))
        .contains(
            "payment “p-1” made at 2026-11-24T10:14:59.000Z, in time, arrived at"
                + " 2026-11-24T10:16:00.000Z: too late; the conflict was published 20 ms later as"
                + " event "
                + EventId.ofConflict("order", "p-1"),
            "payment “p-2” made at 2026-11-24T10:15:01.000Z, after the deadline, arrived at"
                + " 2026-11-24T10:17:00.000Z: too late; not published yet.");
  }

  @Test
  void anOrderThatWasPaid() {
    paid("10:03:00", "10:03:01.5");
    withoutEffect.add(new PaymentWithoutEffect("p", at("10:03:00"), at("10:04:00")));
    withoutEffect.add(new PaymentWithoutEffect("q", at("10:05:00"), at("10:05:01")));
    replays.add(
        new OperatorAction(
            7,
            at("10:03:01"),
            "anna",
            Kind.REPLAY_DEAD_LETTER,
            "order-paid.dlt-0@3",
            "",
            null,
            null));

    assertThat(explain(OrderState.PAID))
        .isEqualTo(
            "Paid in time: payment “p” made at 2026-11-24T10:03:00.000Z; the deadline was"
                + " 2026-11-24T10:15:00.000Z (set by the order's own timeout); read at"
                + " 2026-11-24T10:03:01.500Z; delivered again at 2026-11-24T10:04:00.000Z, which changed"
                + " nothing; a second payment “q” arrived at 2026-11-24T10:05:01.000Z and changed"
                + " nothing; operator “anna” replayed dead letter “order-paid.dlt-0@3” of the order at"
                + " 2026-11-24T10:03:01.000Z.");
  }

  @Test
  void anOrderThatWasPaidLateOrAheadOfItsCreation() {
    paid("10:15:01", "10:15:02");
    assertThat(explain(OrderState.PAID))
        .startsWith(
            "Paid after the deadline 2026-11-24T10:15:00.000Z (set by the order's own timeout), but"
                + " before the order was cancelled: payment “p”");

    createdAt = null;
    assertThat(explain(OrderState.PAID)).contains("the creation of the order has not been read");
  }

  @Test
  void anOrderThatWasClosed() {
    decidedAt = at("10:06:00");
    decidedBy = DecidedBy.CLOSING;
    closedAt = at("10:05:00");
    closeReason = "out of stock";
    assertThat(explain(OrderState.CLOSED))
        .isEqualTo(
            "Closed elsewhere at 2026-11-24T10:05:00.000Z: “out of stock”; read at"
                + " 2026-11-24T10:06:00.000Z; nothing was published.");

    decidedBy = DecidedBy.STALE;
    assertThat(explain(OrderState.CLOSED))
        .startsWith("Closed as stale at 2026-11-24T10:06:00.000Z: the order was first read long");

    decidedBy = DecidedBy.OPERATOR;
    assertThat(explain(OrderState.CLOSED))
        .startsWith("Closed by an operator at 2026-11-24T10:06:00.000Z: “out of stock”;");
    act(Kind.CLOSE_ORDER, "10:06:00", "paid in cash", deadline, deadline, null);
    assertThat(explain(OrderState.CLOSED))
        .startsWith("Closed by operator “anna” at 2026-11-24T10:06:00.000Z: “paid in cash”;");
  }

  @Test
  void whatAPendingOrderWaitsFor() {
    blockers.add(new OrderBlocker.PaymentDeadline(deadline));
    policy = "DEFAULT";
    assertThat(explain(OrderState.PENDING))
        .isEqualTo(
            "Waits for a payment until 2026-11-24T10:15:00.000Z (set by the default timeout).");

    blockers.clear();
    blockers.add(new OrderBlocker.Parked("undecodable", at("10:01:00")));
    blockers.add(new OrderBlocker.Paused(7, null, "anna", "provider down", null));
    blockers.add(new OrderBlocker.Paused(8, "web", "anna", "drill", at("11:00:00")));
    blockers.add(new OrderBlocker.Held(3, 2, "records lost"));
    blockers.add(new OrderBlocker.UnownedShard(2));
    assertThat(explain(OrderState.PENDING))
        .isEqualTo(
            "Due since 2026-11-24T10:15:00.000Z (set by the default timeout); parked at"
                + " 2026-11-24T10:01:00.000Z, so that it is not cancelled until an operator releases it:"
                + " “undecodable”; held by pause 7, which “anna” placed, until somebody ends it:"
                + " “provider down”; held by pause 8, which “anna” placed, until"
                + " 2026-11-24T11:00:00.000Z: “drill”; held by hold 3 of shard 2 until an operator lifts"
                + " it: “records lost”; no instance owns shard 2.");

    blockers.clear();
    assertThat(explain(OrderState.PENDING)).endsWith("; about to be decided.");
    blockers.add(new OrderBlocker.Watermark(2, "one"));
    assertThat(explain(OrderState.PENDING))
        .endsWith("; decided as soon as instance “one” has read all payments up to then.");
  }

  @Test
  void interruptionsThatMovedTheDeadline() {
    // Ten minutes before it was created do not count; overlapping times count once.
    interruption("09:50:00", "10:02:00", false);
    interruption("10:01:00", "10:05:00", true);
    deadline = at("10:20:00");
    extendedUntil = at("10:05:00");

    assertThat(moves())
        .containsExactly("10:15:00 10:15:00 10:17:00 outage", "10:17:00 10:17:00 10:20:00 pause");
  }

  @Test
  void interruptionsBeforeAnOperatorMovedTheDeadlineMoveItNoMore() {
    interruption("10:01:00", "10:02:00", true);
    act(Kind.EXTEND_ORDER, "10:10:00", "asked", deadline, at("11:00:00"), null);
    deadline = at("11:00:00");
    extendedUntil = at("10:10:00");

    assertThat(moves()).containsExactly("10:10:00 10:15:00 11:00:00 anna");
  }

  @Test
  void everyMoveIsKnown() {
    interruption("10:01:00", "10:02:00", true);
    // At 10:15 the pause moved the deadline to 10:16, when another pause held the order.
    act(Kind.EXTEND_ORDER, "10:20:00", "asked", at("10:16:00"), at("11:00:00"), at("10:02:00"));
    interruption("10:30:00", "10:40:00", false);
    deadline = at("11:10:00");
    extendedUntil = at("10:40:00");

    assertThat(moves())
        .containsExactly(
            "10:15:00 10:15:00 10:16:00 pause",
            "10:20:00 10:16:00 11:00:00 anna",
            "11:00:00 11:00:00 11:10:00 outage");
    blockers.add(new OrderBlocker.PaymentDeadline(deadline));
    assertThat(explain(OrderState.PENDING))
        .contains("moved by a pause and operator “anna” and an outage)");
  }

  private void cancelled(String at) {
    decidedAt = at(at);
    decidedBy = DecidedBy.EXPIRY;
    publishedAt = decidedAt.plusMillis(40);
  }

  private void paid(String at, String readAt) {
    paidAt = at(at);
    decidedAt = at(readAt);
    decidedBy = DecidedBy.PAYMENT;
    paymentId = "p";
  }

  private void interruption(String from, String to, boolean isPause) {
    interruptions.add(new Interruption(at(from), at(to), isPause));
  }

  private void act(
      Kind kind,
      String at,
      String reason,
      Instant before,
      Instant after,
      @Nullable Instant extendedUntil) {
    actions.add(
        new OperatorAction(
            1,
            at(at),
            "anna",
            kind,
            "order",
            reason,
            state(before, extendedUntil),
            state(after, null)));
  }

  private static JsonNode state(Instant deadline, @Nullable Instant extendedUntil) {
    var state = JSON.createObjectNode().put("deadline", deadline.toString());
    return extendedUntil == null ? state : state.put("extendedUntil", extendedUntil.toString());
  }

  private List<String> moves() {
    return DeadlineMove.of(facts(OrderState.PENDING)).stream()
        .map(
            move ->
                "%s %s %s %s"
                    .formatted(
                        time(move.at()),
                        time(move.before()),
                        time(move.after()),
                        move.action() != null
                            ? move.action().actor()
                            : move.interruption() != null && move.interruption().isPause()
                                ? "pause"
                                : "outage"))
        .toList();
  }

  private static String time(Instant instant) {
    return instant.toString().substring(11, 19);
  }

  private String explain(OrderState state) {
    return OrderExplanation.of(facts(state), blockers, null);
  }

  private OrderFacts facts(OrderState state) {
    OrderView order =
        new OrderView(
            "order", state, 2, createdAt, deadline, grace, null, policy, null, null, null,
            decidedAt, decidedBy, paymentId, null);
    return new OrderFacts(
        order,
        CREATED,
        extendedUntil,
        paidAt,
        closedAt,
        closeReason,
        actions,
        replays,
        null,
        interruptions,
        conflicts,
        withoutEffect,
        List.of(),
        changes,
        List.of(),
        publishedAt == null ? null : new Publication(publishedAt, 1, 7L));
  }

  private static Publication published(String time) {
    return new Publication(at(time), 1, 7L);
  }

  private static Instant at(String time) {
    return Instant.parse("2026-11-24T" + time + "Z");
  }

  @Test
  void aDeadlineThatStillMoves() {
    blockers.add(new OrderBlocker.PaymentDeadline(deadline));
    assertThat(
            OrderExplanation.of(
                facts(OrderState.PENDING), blockers, Duration.ofMinutes(65).plusSeconds(3)))
        .endsWith("; the deadline still moves by 1 h 5 min because of an interruption.");
  }
}
