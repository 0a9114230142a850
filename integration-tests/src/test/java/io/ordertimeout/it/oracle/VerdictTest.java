package io.ordertimeout.it.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.oracle.HistoryEvent.Cancellation;
import io.ordertimeout.it.oracle.HistoryEvent.Conflict;
import io.ordertimeout.it.oracle.HistoryEvent.Creation;
import io.ordertimeout.it.oracle.HistoryEvent.Doubt;
import io.ordertimeout.it.oracle.HistoryEvent.Payment;
import io.ordertimeout.it.oracle.Violation.Kind;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class VerdictTest {

  private static final Instant CREATED = Instant.parse("2026-01-01T00:00:00Z");
  private static final Instant DEADLINE = CREATED.plusSeconds(10);
  private static final Instant LATE = DEADLINE.plusSeconds(1);

  @Test
  void countsAllowedLatenessAndRepetitions() {
    Verdict verdict =
        verdict(
            cancelled("a", "e1", 10),
            cancelled("b", "e2", 250, 9_000),
            cancelled("c", "e3", 251),
            cancelled("d", "e4", 5_010));
    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.orders()).isEqualTo(4);
    assertThat(verdict.inState("CANCELLED")).isEqualTo(4);
    assertThat(verdict.inState("PAID")).isZero();
    assertThat(verdict.undisturbedCancellations()).isEqualTo(4);
    assertThat(verdict.repeated()).isEqualTo(1);
    assertThat(verdict.conflicts()).isZero();
    assertThat(verdict.toString())
        .startsWith("4 orders {CANCELLED=4}, paid {NONE=4}, 0 in doubt, 4 cancelled, 0 conflicts")
        .contains(
            "lateness p50 250 ms, p99 5010 ms, max 5010 ms;"
                + " undisturbed: 4 of 4, 50.00% within 250 ms, max 5010 ms")
        .contains("1 repeated publications")
        .contains("violations: none");
  }

  @Test
  void reportsALateCancellation() {
    Verdict verdict = verdict(cancelled("a", "e1", 5_011, 6_000));
    assertThat(verdict.violations()).extracting(Violation::kind).containsExactly(Kind.LATE);
    assertThat(verdict.toString()).contains("published 5011 ms after it was due");
  }

  @Test
  void acceptsALateCancellationDuringADisturbance() {
    for (long begin : new long[] {-10_000, 0, 5_000}) {
      Disturbances disturbances = new Disturbances();
      disturbances.begin(DEADLINE.plusMillis(begin));
      disturbances.end(DEADLINE.plusMillis(Math.max(begin, 0) + 1));
      Verdict verdict = verdict(disturbances, cancelled("a", "e1", 20_000));
      assertThat(verdict.brokenPromises()).isEmpty();
      assertThat(verdict.undisturbedCancellations()).isZero();
      assertThat(verdict.toString()).contains("undisturbed: 0 of 1, 100.00% within");
    }
  }

  @Test
  void reportsALateCancellationBeforeOrAfterADisturbance() {
    Disturbances disturbances = new Disturbances();
    disturbances.begin(DEADLINE.minusMillis(10_000));
    disturbances.end(DEADLINE);
    disturbances.begin(DEADLINE.plusMillis(5_001));
    Verdict verdict = verdict(disturbances, cancelled("a", "e1", 20_000));
    assertThat(verdict.violations()).extracting(Violation::kind).containsExactly(Kind.LATE);
  }

  @Test
  void anOrderThatArrivesAfterItsDeadlineIsDueThen() {
    OrderHistory order = cancelled("a", "e1", 20_000);
    Creation late =
        new Creation(
            new RecordPosition("created", 0, 0), DEADLINE.plusSeconds(15), CREATED, DEADLINE);
    Verdict verdict =
        verdict(
            new OrderHistory(
                "a",
                List.of(late),
                List.of(),
                List.of(),
                List.of(),
                order.cancellations(),
                List.of(),
                order.row(),
                false));
    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.toString()).contains("max 5000 ms");
  }

  @Test
  void acceptsARunWithEnoughOrdersOfEachKind() {
    Verdict verdict = everyKind();
    verdict.require(new ShareBounds(0.25, 0.25, 0.25, 0.25));
    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.toString())
        .startsWith("4 orders {PAID=3, PENDING=1}, paid {NONE=1, IN_TIME=1, UNDECIDABLE=1,")
        .contains("TOO_LATE=1}, 1 in doubt");
  }

  @Test
  void reportsEveryKindOfOrderOfWhichThereAreTooFewOrTooMany() {
    assertUnrepresentative(new ShareBounds(0.26, 0, 1, 0), "1 of 4 orders were paid in time");
    assertUnrepresentative(new ShareBounds(0, 0.26, 1, 0), "1 of 4 orders were paid too late");
    assertUnrepresentative(new ShareBounds(0, 0, 0.24, 0), "1 of 4 orders were paid undecidably");
    assertUnrepresentative(new ShareBounds(0, 0, 1, 0.26), "1 of 4 orders were in doubt");
  }

  @Test
  void aRunWithoutOrdersIsUnrepresentative() {
    Verdict verdict = verdict();
    verdict.require(new ShareBounds(0.1, 0.1, 0.1, 0.1));
    assertThat(verdict.violationCounts()).isEqualTo(Map.of(Kind.UNREPRESENTATIVE, 3));
  }

  @Test
  void aRunMayDoWithoutWhatIsNotRequired() {
    Verdict verdict = verdict();
    verdict.require(new ShareBounds(0, 0, 0, 0));
    assertThat(verdict.brokenPromises()).isEmpty();
  }

  @Test
  void theCancellationOfAnUnknownOrderHasNoLateness() {
    OrderHistory order = cancelled("a", "e1", 20_000);
    Verdict verdict =
        verdict(
            new OrderHistory(
                "a",
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                order.cancellations(),
                List.of(),
                null,
                false));
    assertThat(verdict.undisturbedCancellations()).isZero();
    assertThat(verdict.violations())
        .extracting(Violation::kind)
        .containsExactly(Kind.DECIDED_TWICE);
  }

  @Test
  void countsOrdersThatAreCancelledCloseToAPayment() {
    OrderHistory cancelled = cancelled("a", "e1", 20);
    Payment payment =
        new Payment(new RecordPosition("paid", 0, 7), DEADLINE, DEADLINE, "p1", DEADLINE);
    Conflict conflict =
        new Conflict(
            new RecordPosition("conflict", 0, 0),
            DEADLINE,
            "e2",
            "p1",
            "PAID_IN_TIME_DELIVERED_LATE",
            DEADLINE,
            DEADLINE,
            DEADLINE,
            null);
    Verdict verdict =
        verdict(
            new OrderHistory(
                "a",
                cancelled.creations(),
                List.of(payment),
                List.of(),
                List.of(),
                cancelled.cancellations(),
                List.of(conflict, conflict),
                cancelled.row(),
                false));
    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.conflicts()).isEqualTo(1);
    assertThat(verdict.repeated()).isEqualTo(1);
    assertThat(verdict.toString())
        .contains("1 repeated publications; 1 cancelled although something may have been in time")
        .contains("close to the deadline:\n  a\n", "paid-0@7");
  }

  @Test
  void reportsAnEventIdThatAConflictSharesWithACancellation() {
    OrderHistory order = cancelled("a", "e1", 20);
    Payment payment = new Payment(new RecordPosition("paid", 0, 7), LATE, LATE, "p1", LATE);
    Conflict conflict =
        new Conflict(
            new RecordPosition("conflict", 0, 0),
            LATE,
            "e1",
            "p1",
            "PAID_LATE",
            LATE,
            DEADLINE,
            DEADLINE,
            null);
    Verdict verdict =
        verdict(
            new OrderHistory(
                "a",
                order.creations(),
                List.of(payment),
                List.of(),
                List.of(),
                order.cancellations(),
                List.of(conflict),
                order.row(),
                false));
    assertThat(verdict.violations()).extracting(Violation::kind).containsExactly(Kind.WRONG_FIELDS);
  }

  @Test
  void reportsUnfinishedWorkWithItsAmounts() {
    assertThat(new UnfinishedWork(0, 0, 0).isNone()).isTrue();
    assertThat(new UnfinishedWork(1, 0, 0).isNone()).isFalse();
    assertThat(new UnfinishedWork(0, 1, 0).isNone()).isFalse();
    assertThat(new UnfinishedWork(0, 0, 1).isNone()).isFalse();
    assertThat(new UnfinishedWork(7, 8, 9).violation().toString())
        .startsWith("NOT_QUIET: 7 input records are not stored, 8 events are in the outbox,")
        .contains("9 orders are overdue");
  }

  @Test
  void addsNotesAndViolations() {
    Verdict verdict = verdict();
    verdict.note("a note");
    verdict.add(new UnfinishedWork(7, 8, 9).violation());
    assertThat(verdict.toString())
        .contains("\n  a note\n  violations: {NOT_QUIET=1}\nNOT_QUIET: 7");
    assertThat(verdict.brokenPromises()).hasSize(1);
  }

  @Test
  void reportsAnEventIdThatTwoOrdersShare() {
    Verdict verdict = verdict(cancelled("a", "e1", 10), cancelled("b", "e1", 10));
    assertThat(verdict.violations()).extracting(Violation::kind).containsExactly(Kind.WRONG_FIELDS);
    assertThat(verdict.toString()).contains("violations: {WRONG_FIELDS=1}", "event id e1");
  }

  /** An order in doubt, and one each that is paid in time, at the deadline and too late. */
  private static Verdict everyKind() {
    OrderHistory inDoubt =
        new OrderHistory(
            "doubt",
            List.of(creation()),
            List.of(),
            List.of(),
            List.of(new Doubt(new RecordPosition("paid", 0, 9), CREATED, CREATED)),
            List.of(),
            List.of(),
            new OrderRow("PENDING", CREATED, DEADLINE, null, null),
            true);
    return verdict(inDoubt, paid("a", CREATED), paid("b", DEADLINE), paid("c", LATE));
  }

  private static void assertUnrepresentative(ShareBounds bounds, String explanation) {
    Verdict verdict = everyKind();
    verdict.require(bounds);
    assertThat(verdict.violations())
        .extracting(Violation::kind)
        .containsExactly(Kind.UNREPRESENTATIVE);
    assertThat(verdict.toString()).contains(explanation);
  }

  private static Verdict verdict(OrderHistory... orders) {
    return verdict(new Disturbances(), orders);
  }

  private static Verdict verdict(Disturbances disturbances, OrderHistory... orders) {
    return Verdict.of(
        List.of(orders),
        DEADLINE.plusSeconds(60),
        Judge.NOTHING_STALE,
        new Punctuality(disturbances, Punctuality.USUAL_LIMIT));
  }

  private static Creation creation() {
    return new Creation(new RecordPosition("created", 0, 0), CREATED, CREATED, DEADLINE);
  }

  private static OrderHistory paid(String orderId, Instant at) {
    return new OrderHistory(
        orderId,
        List.of(creation()),
        List.of(new Payment(new RecordPosition("paid", 0, 0), at, at, "p1", at)),
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        new OrderRow("PAID", CREATED, DEADLINE, at, "p1"),
        false);
  }

  private static OrderHistory cancelled(String orderId, String eventId, long... publishedAfter) {
    List<Cancellation> publications =
        LongStream.of(publishedAfter)
            .mapToObj(
                millis ->
                    new Cancellation(
                        new RecordPosition("cancelled", 0, millis),
                        DEADLINE.plusMillis(millis),
                        eventId,
                        "PAYMENT_TIMEOUT",
                        CREATED,
                        DEADLINE,
                        DEADLINE,
                        null))
            .toList();
    return new OrderHistory(
        orderId,
        List.of(creation()),
        List.of(),
        List.of(),
        List.of(),
        publications,
        List.of(),
        new OrderRow("CANCELLED", CREATED, DEADLINE, DEADLINE, null),
        false);
  }
}
