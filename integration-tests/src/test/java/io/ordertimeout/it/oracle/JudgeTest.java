package io.ordertimeout.it.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.oracle.HistoryEvent.Attempt;
import io.ordertimeout.it.oracle.HistoryEvent.Cancellation;
import io.ordertimeout.it.oracle.HistoryEvent.Change;
import io.ordertimeout.it.oracle.HistoryEvent.Closing;
import io.ordertimeout.it.oracle.HistoryEvent.Conflict;
import io.ordertimeout.it.oracle.HistoryEvent.Creation;
import io.ordertimeout.it.oracle.HistoryEvent.Doubt;
import io.ordertimeout.it.oracle.HistoryEvent.Payment;
import io.ordertimeout.it.oracle.HistoryEvent.Warning;
import io.ordertimeout.it.oracle.Violation.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class JudgeTest {

  private static final Instant CREATED = Instant.parse("2026-01-01T00:00:00.000250Z");
  private static final Instant DEADLINE = CREATED.plusSeconds(10);
  private static final Instant DECIDED = DEADLINE.plusMillis(20);
  private static final Instant IN_TIME = instant(-5_000);
  private static final Instant LATE = instant(300);
  private static final Instant NOW = DEADLINE.plusSeconds(60);
  private static final String IN_TIME_KIND = "PAID_IN_TIME_DELIVERED_LATE";
  private static final String LATE_KIND = "PAID_LATE";

  private final List<Creation> creations = new ArrayList<>();
  private final List<Payment> payments = new ArrayList<>();
  private final List<Closing> closures = new ArrayList<>();
  private final List<Doubt> doubts = new ArrayList<>();
  private final List<Cancellation> cancellations = new ArrayList<>();
  private final List<Conflict> conflicts = new ArrayList<>();
  private final List<Attempt> attempts = new ArrayList<>();
  private final List<Change> changes = new ArrayList<>();
  private final List<Warning> warnings = new ArrayList<>();
  private @Nullable OrderRow row;
  private boolean parked;
  private int offset;

  @Nested
  class AttemptsAndWarnings {

    private final Instant afterwards = DECIDED.plusSeconds(9);

    @Test
    void aChangeThatWasInTimeCounts() {
      created();
      cancelled();
      changed(DEADLINE, afterwards);
      assertKept();
      changed(IN_TIME, afterwards);
      assertBroken(Kind.CHANGE_OVERLOOKED);
    }

    @Test
    void theLastChangeCounts() {
      created();
      changed(IN_TIME, afterwards);
      changed(IN_TIME.plusMillis(1), DEADLINE);
      cancelled();
      assertKept();
      changed(IN_TIME.plusMillis(2), afterwards);
      assertBroken(Kind.CHANGE_OVERLOOKED);
    }

    @Test
    void nobodyIsWarnedOfADeadlineThatWasReplaced() {
      created();
      cancelled();
      warned("w", 1, DEADLINE.minusSeconds(2));
      changed(DEADLINE, afterwards);
      assertKept();
      changes.clear();
      changed(DEADLINE.minusSeconds(9), afterwards);
      assertBroken(Kind.CHANGE_OVERLOOKED, Kind.CHANGE_OVERLOOKED);
    }

    @Test
    void anOrderWasCancelledWhileItWasBeingPaid() {
      created();
      cancelled();
      attempt(IN_TIME, "a", afterwards);
      assertBroken(Kind.HELD_YET_CANCELLED);
    }

    @Test
    void anAttemptThatMayHaveBeenTooLateHoldsNothing() {
      created();
      cancelled();
      attempt(DEADLINE, "a", afterwards);
      assertKept();
    }

    @Test
    void anAttemptHoldsUntilItEnds() {
      created();
      cancelled();
      attempt(IN_TIME, "a", afterwards);
      attempt(IN_TIME.plusSeconds(1), "a", null);
      attempt(IN_TIME, "b", DECIDED);
      assertKept();
      attempt(IN_TIME.plusSeconds(2), "c", afterwards);
      assertBroken(Kind.HELD_YET_CANCELLED);
      attempt(IN_TIME.plusSeconds(3), "", null);
      assertKept();
    }

    @Test
    void anEndAfterTheCancellationDoesNotExcuseIt() {
      created();
      cancelled();
      attempt(IN_TIME, "a", afterwards);
      attempt(DECIDED.plusSeconds(5), "a", null);
      assertBroken(Kind.HELD_YET_CANCELLED);
    }

    @Test
    void aWarningMayBeRepeatedUnderTheSameEventId() {
      created();
      cancelled();
      warned("w", 1, DEADLINE.minusSeconds(2));
      warned("w", 1, DEADLINE.minusSeconds(1));
      assertKept();
      warned("v", 1, DEADLINE.minusSeconds(1));
      assertBroken(Kind.WARNED_TWICE);
    }

    @Test
    void aWarningHasItsTime() {
      created();
      cancelled();
      warned("w", 1, DEADLINE.minusSeconds(2).minusNanos(1_000));
      assertBroken(Kind.WARNED_EARLY);
      warnings.clear();
      warned("w", 1, DEADLINE);
      assertBroken(Kind.WARNED_LATE);
    }

    @Test
    void nobodyIsWarnedWhoHasPaidBeforeTheWarning() {
      created();
      paid("p1", IN_TIME);
      row("PAID", IN_TIME, "p1");
      warned("w", 1, DEADLINE.minusSeconds(1));
      assertBroken(Kind.WARNED_AFTER_PAYMENT);
    }

    @Test
    void whoPaysAfterTheWarningMayBeWarned() {
      created();
      paid("p1", DEADLINE.minusSeconds(1));
      row("PAID", DEADLINE, "p1");
      warned("w", 1, DEADLINE.minusSeconds(1));
      assertKept();
    }
  }

  @Nested
  class KeptPromises {

    @Test
    void anUnpaidOrderIsCancelled() {
      created();
      cancelled();
      assertKept();
    }

    @Test
    void aPublicationMayBeRepeated() {
      created();
      cancelled();
      publish("e1", DECIDED, DECIDED.plusSeconds(30));
      assertKept();
    }

    @Test
    void aPaidOrderIsPaid() {
      created();
      paid("p1", IN_TIME);
      row("PAID", IN_TIME, "p1");
      assertKept();
    }

    @Test
    void aLatePaymentMaySettleTheOrder() {
      created();
      paid("p1", LATE);
      row("PAID", LATE, "p1");
      assertKept();
    }

    @Test
    void aLatePaymentMayRaiseAConflict() {
      created();
      paid("p1", LATE);
      cancelled();
      conflict("e2", "p1", LATE, LATE_KIND);
      assertKept();
    }

    @Test
    void aPaymentInFlightAtTheDeadlineMayRaiseAConflict() {
      created();
      payments.add(
          new Payment(position("paid"), instant(-900), DEADLINE.plusMillis(2), "p1", instant(-3)));
      cancelled();
      conflict("e2", "p1", instant(-3), IN_TIME_KIND);
      assertKept();
      assertThat(Judge.undecidable(history())).isTrue();
      assertThat(Judge.payments(history())).isEqualTo(Judge.Payments.UNDECIDABLE);
    }

    @Test
    void anOrderInDoubtStaysPending() {
      created();
      inDoubt(instant(-900));
      row = new OrderRow("PENDING", CREATED, DEADLINE, null, null);
      assertKept();
    }

    @Test
    void anOrderInDoubtMayBePaid() {
      created();
      inDoubt(instant(-900));
      paid("p1", LATE);
      row("PAID", LATE, "p1");
      assertKept();
    }

    @Test
    void anOrderMayBeInDoubtTooLate() {
      created();
      cancelled();
      inDoubt(LATE);
      assertKept();
      assertThat(Judge.undecidable(history())).isFalse();
    }

    @Test
    void anUnknownOrderMayBeInDoubt() {
      inDoubt(IN_TIME);
      assertKept();
    }

    @Test
    void aSecondPaymentOfAPaidOrderRaisesNoConflict() {
      created();
      paid("p1", IN_TIME);
      paid("p2", LATE);
      row("PAID", IN_TIME, "p1");
      assertKept();
    }

    @Test
    void aPaymentOfAClosedOrderRaisesAConflict() {
      created();
      closed(IN_TIME);
      paid("p1", IN_TIME);
      row("CLOSED", IN_TIME, null);
      conflicts.add(
          new Conflict(
              position("conflict"), LATE, "e2", "p1", IN_TIME_KIND, IN_TIME, DEADLINE, null, null));
      assertKept();
    }

    @Test
    void aConflictBeforeTheCreationHasNoDeadline() {
      closed(IN_TIME);
      paid("p1", IN_TIME);
      row = new OrderRow("CLOSED", null, null, IN_TIME, null);
      conflicts.add(
          new Conflict(
              position("conflict"), LATE, "e2", "p1", LATE_KIND, IN_TIME, null, null, null));
      assertKept();
    }

    @Test
    void anOrderBeforeItsDeadlineIsPending() {
      created();
      row = new OrderRow("PENDING", CREATED, DEADLINE, null, null);
      assertThat(Judge.judge(history(), DEADLINE.minusMillis(1), Judge.NOTHING_STALE)).isEmpty();
    }

    @Test
    void aRepeatedCreationDoesNotMoveTheDeadline() {
      created();
      creations.add(
          new Creation(
              position("created"), CREATED.plusSeconds(1), CREATED, DEADLINE.plusSeconds(5)));
      cancelled();
      assertKept();
    }
  }

  @Nested
  class TimeOfPayments {

    @Test
    void thereIsNoneWithoutAPaymentOrACreation() {
      created();
      closed(IN_TIME);
      assertPaid(Judge.Payments.NONE);
      creations.clear();
      paid("p1", IN_TIME);
      assertPaid(Judge.Payments.NONE);
    }

    @Test
    void aPaymentIsInTimeIfItWasVisibleBeforeTheDeadlineWhateverTheSkew() {
      assertPaymentAt(
          instant(-900), DEADLINE.minusMillis(10).minusNanos(1_000), Judge.Payments.IN_TIME);
      assertPaymentAt(instant(-900), DEADLINE.minusMillis(10), Judge.Payments.UNDECIDABLE);
    }

    @Test
    void aPaymentIsTooLateIfItWasStampedAfterTheDeadlineWhateverTheSkew() {
      Instant late = DEADLINE.plusMillis(10);
      assertPaymentAt(late, late, Judge.Payments.TOO_LATE);
      assertPaymentAt(late.minusNanos(1_000), late, Judge.Payments.UNDECIDABLE);
    }

    @Test
    void theFirstOfSeveralPaymentsCounts() {
      assertPaymentAt(LATE, LATE, Judge.Payments.TOO_LATE);
      addPaymentAt(instant(-1), DEADLINE);
      assertPaid(Judge.Payments.UNDECIDABLE);
      addPaymentAt(IN_TIME, IN_TIME);
      assertPaid(Judge.Payments.IN_TIME);
    }

    @Test
    void anOrderThatIsNotCancelledIsDecidable() {
      created();
      assertPaymentAt(instant(-1), DEADLINE, Judge.Payments.UNDECIDABLE);
      row("PAID", DEADLINE, "p");
      assertThat(Judge.undecidable(history())).isFalse();
      creations.clear();
      cancelled();
      assertThat(Judge.undecidable(history())).isFalse();
    }

    private void assertPaymentAt(Instant appendedAt, Instant visibleBy, Judge.Payments expected) {
      payments.clear();
      addPaymentAt(appendedAt, visibleBy);
      assertPaid(expected);
    }

    private void addPaymentAt(Instant appendedAt, Instant visibleBy) {
      if (creations.isEmpty()) {
        created();
      }
      payments.add(new Payment(position("paid"), appendedAt, visibleBy, "p", appendedAt));
    }

    private void assertPaid(Judge.Payments expected) {
      assertThat(Judge.payments(history())).isEqualTo(expected);
    }
  }

  @Nested
  class Lost {

    @Test
    void anOrderInDoubtThatIsNotParked() {
      created();
      inDoubt(IN_TIME);
      parked = false;
      row = new OrderRow("PENDING", CREATED, DEADLINE, null, null);
      assertBroken(Kind.LOST);
    }

    @Test
    void anOrderStillPendingAfterItsClosing() {
      created();
      closed(IN_TIME);
      row = new OrderRow("PENDING", CREATED, DEADLINE, null, null);
      assertBroken(Kind.LOST);
    }

    @Test
    void anOrderPendingExactlyAtItsDeadline() {
      created();
      row = new OrderRow("PENDING", CREATED, DEADLINE, null, null);
      assertThat(Judge.judge(history(), DEADLINE, Judge.NOTHING_STALE))
          .extracting(Violation::kind)
          .containsExactly(Kind.LOST);
    }

    @Test
    void aClosingMissingFromTheTable() {
      closed(IN_TIME);
      assertBroken(Kind.LOST);
    }

    @Test
    void anOrderMissingFromTheTable() {
      created();
      assertBroken(Kind.LOST);
    }

    @Test
    void aPaymentMissingFromTheTable() {
      paid("p1", IN_TIME);
      assertBroken(Kind.LOST);
    }

    @Test
    void anOrderStillPendingAfterItsDeadline() {
      created();
      row = new OrderRow("PENDING", CREATED, DEADLINE, null, null);
      assertBroken(Kind.LOST);
    }

    @Test
    void anOrderStillPendingAfterItsPayment() {
      created();
      paid("p1", IN_TIME);
      row = new OrderRow("PENDING", CREATED, DEADLINE, null, null);
      assertBroken(Kind.LOST);
    }

    @Test
    void aCancellationThatWasNeverPublished() {
      created();
      row("CANCELLED", DECIDED, null);
      assertBroken(Kind.LOST);
    }
  }

  @Nested
  class Early {

    @Test
    void aDecisionBeforeTheDeadline() {
      created();
      Instant early = DEADLINE.minusNanos(1_000);
      row("CANCELLED", early, null);
      publish("e1", early, DECIDED);
      assertBroken(Kind.EARLY, Kind.EARLY);
    }

    @Test
    void aPublicationBeforeTheDeadline() {
      created();
      row("CANCELLED", DECIDED, null);
      publish("e1", DECIDED, instant(-11));
      assertBroken(Kind.EARLY);
    }
  }

  @Nested
  class DecidedTwice {

    @Test
    void twoEventIds() {
      created();
      cancelled();
      publish("e2", DECIDED, LATE);
      assertBroken(Kind.DECIDED_TWICE);
    }

    @Test
    void twoTimesOfCancellation() {
      created();
      cancelled();
      publish("e1", DECIDED.plusMillis(1), LATE);
      assertBroken(Kind.DECIDED_TWICE, Kind.WRONG_FIELDS);
    }

    @Test
    void publishedAsCancelledButPaidInTheTable() {
      created();
      paid("p1", LATE);
      row("PAID", LATE, "p1");
      publish("e1", DECIDED, DECIDED);
      assertBroken(Kind.DECIDED_TWICE);
    }
  }

  @Nested
  class PaidYetCancelled {

    @Test
    void aPaymentVisibleBeforeTheDeadline() {
      created();
      paid("p1", instant(-12));
      cancelled();
      conflict("e2", "p1", instant(-12), IN_TIME_KIND);
      assertBroken(Kind.PAID_YET_CANCELLED);
    }

    @Test
    void aClosingBeforeTheDeadline() {
      created();
      closed(IN_TIME);
      cancelled();
      assertBroken(Kind.CLOSED_YET_CANCELLED);
    }

    @Test
    void anUndecodablePaymentBeforeTheDeadline() {
      created();
      inDoubt(IN_TIME);
      cancelled();
      assertBroken(Kind.IN_DOUBT_YET_CANCELLED);
    }
  }

  @Nested
  class Conflicts {

    @Test
    void aLatePaymentWithoutAConflict() {
      created();
      paid("p1", LATE);
      cancelled();
      assertBroken(Kind.CONFLICT_MISSING);
    }

    @Test
    void aPaymentOfAClosedOrderWithoutAConflict() {
      created();
      closed(IN_TIME);
      paid("p1", LATE);
      row("CLOSED", IN_TIME, null);
      assertBroken(Kind.CONFLICT_MISSING);
    }

    @Test
    void oneOfTwoLatePaymentsWithoutAConflict() {
      created();
      paid("p1", LATE);
      paid("p2", LATE);
      cancelled();
      conflict("e2", "p1", LATE, LATE_KIND);
      assertBroken(Kind.CONFLICT_MISSING);
    }

    @Test
    void twoConflictsOfOnePayment() {
      created();
      paid("p1", LATE);
      cancelled();
      conflict("e2", "p1", LATE, LATE_KIND);
      conflict("e3", "p1", LATE, LATE_KIND);
      assertBroken(Kind.CONFLICT_TWICE);
    }

    @Test
    void aConflictOfTheDecidingPayment() {
      created();
      paid("p1", LATE);
      row("PAID", LATE, "p1");
      conflicts.add(
          new Conflict(
              position("conflict"), LATE, "e2", "p1", LATE_KIND, LATE, DEADLINE, null, null));
      assertBroken(Kind.UNEXPECTED_CONFLICT);
    }

    @Test
    void aConflictOfAnAbortedPayment() {
      created();
      cancelled();
      conflict("e2", "p1", LATE, LATE_KIND);
      assertBroken(Kind.UNEXPECTED_CONFLICT);
    }

    @Test
    void aConflictOfTheWrongKind() {
      created();
      paid("p1", LATE);
      cancelled();
      conflict("e2", "p1", LATE, IN_TIME_KIND);
      assertBroken(Kind.WRONG_FIELDS);
    }
  }

  @Nested
  class UnexplainedState {

    @Test
    void paidByAnAbortedPayment() {
      created();
      row("PAID", IN_TIME, "p1");
      assertBroken(Kind.UNEXPLAINED_STATE);
    }

    @Test
    void closedWithoutAClosingEvent() {
      created();
      row("CLOSED", IN_TIME, null);
      assertBroken(Kind.UNEXPLAINED_STATE);
    }

    @Test
    void parkedWithoutAReason() {
      created();
      parked = true;
      row = new OrderRow("PENDING", CREATED, DEADLINE, null, null);
      assertThat(Judge.judge(history(), CREATED, Judge.NOTHING_STALE))
          .extracting(Violation::kind)
          .containsExactly(Kind.UNEXPLAINED_STATE);
    }

    @Test
    void anOrderInDoubtThatNoOtherRecordMentions() {
      inDoubt(IN_TIME);
      row("PAID", IN_TIME, "p1");
      assertBroken(Kind.UNEXPLAINED_STATE);
    }

    @Test
    void anOrderThatNoRecordMentions() {
      row = new OrderRow("PENDING", CREATED, DEADLINE, null, null);
      assertBroken(Kind.UNEXPLAINED_STATE);
    }

    @Test
    void aCancellationOfAnOrderThatWasNotCreated() {
      publish("e1", DECIDED, DECIDED);
      assertBroken(Kind.DECIDED_TWICE);
    }
  }

  @Nested
  class WrongFields {

    @Test
    void aWrongDeadlineInTheEvent() {
      created();
      row("CANCELLED", DECIDED, null);
      cancellations.add(
          new Cancellation(
              position("cancelled"),
              DECIDED,
              "e1",
              "PAYMENT_TIMEOUT",
              CREATED,
              DEADLINE.plusMillis(1),
              DECIDED,
              null));
      assertBroken(Kind.WRONG_FIELDS);
    }

    @Test
    void aWrongDeadlineInTheRow() {
      created();
      paid("p1", IN_TIME);
      row = new OrderRow("PAID", CREATED, DEADLINE.plusSeconds(5), IN_TIME, "p1");
      assertBroken(Kind.WRONG_FIELDS);
    }

    @Test
    void aCreationMissingFromTheRow() {
      paid("p1", IN_TIME);
      created();
      row = new OrderRow("PAID", null, null, IN_TIME, "p1");
      assertBroken(Kind.WRONG_FIELDS, Kind.WRONG_FIELDS);
    }

    @Test
    void aWrongPaymentInTheRow() {
      created();
      paid("p1", IN_TIME);
      paid("p2", LATE);
      row("PAID", IN_TIME, "p2");
      assertBroken(Kind.WRONG_FIELDS);
    }

    @Test
    void wrongHeaders() {
      created();
      row("CANCELLED", DECIDED, null);
      cancellations.add(
          new Cancellation(
              position("cancelled"),
              DECIDED,
              "e1",
              "PAYMENT_TIMEOUT",
              CREATED,
              DEADLINE,
              DECIDED,
              "ce_id differs from the event id"));
      assertBroken(Kind.WRONG_FIELDS);
    }
  }

  @Nested
  class WrongDecisions {

    @Test
    void anUnknownState() {
      created();
      row("OPEN", DECIDED, null);
      assertBroken(Kind.WRONG_FIELDS);
    }

    @Test
    void cancelledWithoutACreation() {
      paid("p1", LATE);
      row = new OrderRow("CANCELLED", null, null, DECIDED, null);
      publish("e1", DECIDED, DECIDED);
      conflicts.add(
          new Conflict(position("conflict"), LATE, "e2", "p1", LATE_KIND, LATE, null, null, null));
      assertBroken(Kind.UNEXPLAINED_STATE);
    }

    @Test
    void cancelledWithoutATime() {
      created();
      row("CANCELLED", null, null);
      cancellations.add(cancellation("PAYMENT_TIMEOUT", CREATED, null));
      assertBroken(Kind.WRONG_FIELDS, Kind.WRONG_FIELDS);
    }

    @Test
    void anotherReason() {
      created();
      row("CANCELLED", DECIDED, null);
      cancellations.add(cancellation("OTHER", CREATED, DECIDED));
      assertBroken(Kind.WRONG_FIELDS);
    }

    @Test
    void anotherTimeOfCreation() {
      created();
      row("CANCELLED", DECIDED, null);
      cancellations.add(cancellation("PAYMENT_TIMEOUT", DECIDED, DECIDED));
      assertBroken(Kind.WRONG_FIELDS);
    }

    private Cancellation cancellation(
        String reason, Instant createdAt, @Nullable Instant cancelledAt) {
      return new Cancellation(
          position("cancelled"), DECIDED, "e1", reason, createdAt, DEADLINE, cancelledAt, null);
    }
  }

  @Nested
  class WrongConflicts {

    @Test
    void wrongHeaders() {
      cancelledAndPaid();
      add(LATE, DEADLINE, DECIDED, "ce_id differs from the event id");
      assertBroken(Kind.WRONG_FIELDS);
    }

    @Test
    void theTimeOfAnotherPayment() {
      cancelledAndPaid();
      Instant later = LATE.plusSeconds(1);
      paid("p2", later);
      conflict("e3", "p2", later, LATE_KIND);
      add(later, DEADLINE, DECIDED, null);
      assertBroken(Kind.WRONG_FIELDS);
    }

    @Test
    void anotherDeadlineOfACancelledOrder() {
      cancelledAndPaid();
      add(LATE, DEADLINE.minusSeconds(1), DECIDED, null);
      assertBroken(Kind.WRONG_FIELDS);
    }

    @Test
    void anotherTimeOfCancellation() {
      cancelledAndPaid();
      add(LATE, DEADLINE, DECIDED.plusMillis(1), null);
      assertBroken(Kind.WRONG_FIELDS);
    }

    @Test
    void anotherDeadlineOfAClosedOrder() {
      closedAndPaid();
      add(LATE, DEADLINE.minusSeconds(1), null, null);
      assertBroken(Kind.WRONG_FIELDS);
    }

    @Test
    void aTimeOfCancellationOfAClosedOrder() {
      closedAndPaid();
      add(LATE, DEADLINE, DECIDED, null);
      assertBroken(Kind.WRONG_FIELDS);
    }

    private void cancelledAndPaid() {
      created();
      paid("p1", LATE);
      cancelled();
    }

    private void closedAndPaid() {
      created();
      closed(IN_TIME);
      paid("p1", LATE);
      row("CLOSED", IN_TIME, null);
    }

    private void add(
        Instant paidAt, Instant deadline, @Nullable Instant cancelledAt, @Nullable String fault) {
      conflicts.add(
          new Conflict(
              position("conflict"),
              LATE,
              "e2",
              "p1",
              LATE_KIND,
              paidAt,
              deadline,
              cancelledAt,
              fault));
    }
  }

  /** Of orders whose deadline was past for too long when they were first read. */
  @Nested
  class Stale {

    private final Instant staleBefore = DEADLINE.plusMillis(1);

    @Test
    void oneIsClosedWithoutAClosing() {
      created();
      row("CLOSED", DECIDED, null);
      assertThat(judge()).isEmpty();
      assertBroken(Kind.UNEXPLAINED_STATE);
    }

    @Test
    void oneIsPaidIfThePaymentIsReadFirst() {
      created();
      paid("p1", LATE);
      row("PAID", DECIDED, "p1");
      assertThat(judge()).isEmpty();
    }

    @Test
    void oneHasNoConflict() {
      created();
      paid("p1", LATE);
      row("CLOSED", DECIDED, null);
      assertThat(judge()).isEmpty();
      conflicts.add(
          new Conflict(
              position("conflict"), LATE, "c1", "p1", "PAID_LATE", LATE, DEADLINE, null, null));
      assertThat(judge()).extracting(Violation::kind).containsExactly(Kind.UNEXPECTED_CONFLICT);
    }

    @Test
    void oneIsNotCancelled() {
      created();
      cancelled();
      assertThat(judge()).extracting(Violation::kind).containsExactly(Kind.UNEXPLAINED_STATE);
      assertKept();
    }

    @Test
    void oneDoesNotStayPending() {
      created();
      row("PENDING", null, null);
      assertThat(judge()).extracting(Violation::kind).containsExactly(Kind.LOST);
    }

    private List<Violation> judge() {
      return Judge.judge(history(), NOW, staleBefore);
    }
  }

  @Test
  void aViolationContainsTheWholeHistory() {
    created();
    paid("p1", LATE);
    cancelled();
    assertThat(Judge.judge(history(), NOW, Judge.NOTHING_STALE).get(0).toString())
        .contains("CONFLICT_MISSING", "created-0@0", "paid-0@1", "cancelled-0@2", "CANCELLED")
        .contains(CREATED.toString(), LATE.toString(), DECIDED.toString());
  }

  private void created() {
    creations.add(new Creation(position("created"), CREATED, CREATED, DEADLINE));
  }

  private void paid(String paymentId, Instant at) {
    payments.add(new Payment(position("paid"), at, at.plusMillis(1), paymentId, at));
  }

  private void closed(Instant at) {
    closures.add(new Closing(position("closed"), at, at.plusMillis(1)));
  }

  private void inDoubt(Instant at) {
    doubts.add(new Doubt(position("doubt"), at, at.plusMillis(1)));
    parked = true;
  }

  private void cancelled() {
    row("CANCELLED", DECIDED, null);
    publish("e1", DECIDED, DECIDED.plusMillis(5));
  }

  private void publish(String eventId, Instant cancelledAt, Instant appendedAt) {
    cancellations.add(
        new Cancellation(
            position("cancelled"),
            appendedAt,
            eventId,
            "PAYMENT_TIMEOUT",
            CREATED,
            DEADLINE,
            cancelledAt,
            null));
  }

  private void conflict(String eventId, String paymentId, Instant paidAt, String kind) {
    conflicts.add(
        new Conflict(
            position("conflict"), LATE, eventId, paymentId, kind, paidAt, DEADLINE, DECIDED, null));
  }

  private void row(String state, @Nullable Instant decidedAt, @Nullable String paymentId) {
    row = new OrderRow(state, CREATED, DEADLINE, decidedAt, paymentId);
  }

  private void attempt(Instant at, String attemptId, @Nullable Instant until) {
    attempts.add(new Attempt(position("attempt"), at, at, attemptId, until));
  }

  private void changed(Instant at, Instant deadline) {
    changes.add(new Change(position("changed"), at, at, deadline));
  }

  private void warned(String eventId, int number, Instant decidedAt) {
    warnings.add(
        new Warning(
            position("expiring"),
            decidedAt,
            eventId,
            number,
            Duration.ofSeconds(2),
            DEADLINE,
            decidedAt,
            null));
  }

  private RecordPosition position(String topic) {
    return new RecordPosition(topic, 0, offset++);
  }

  private static Instant instant(long millisAfterDeadline) {
    return Instant.ofEpochMilli(DEADLINE.toEpochMilli() + millisAfterDeadline);
  }

  private OrderHistory history() {
    return new OrderHistory(
        "order-1",
        List.copyOf(creations),
        List.copyOf(payments),
        List.copyOf(closures),
        List.copyOf(doubts),
        List.copyOf(cancellations),
        List.copyOf(conflicts),
        List.copyOf(attempts),
        List.copyOf(changes),
        List.copyOf(warnings),
        row,
        parked);
  }

  private void assertKept() {
    assertThat(Judge.judge(history(), NOW, Judge.NOTHING_STALE)).isEmpty();
  }

  private void assertBroken(Kind... kinds) {
    assertThat(Judge.judge(history(), NOW, Judge.NOTHING_STALE))
        .extracting(Violation::kind)
        .containsExactly(kinds);
  }
}
