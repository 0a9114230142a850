package io.ordertimeout.it.safeguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Scenario;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Cancelled orders that are created again, paid, and paid again by the same payment. */
@Tag("faults")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RepeatedEventsSafeguardIT {

  private static final int ORDERS = 10;

  private final Scenario scenario = Scenario.create();
  private final SabotagedService sabotaged = SabotagedService.start(scenario, List.of());

  @AfterEach
  void restore() {
    sabotaged.safeguards().restoreAll();
  }

  @AfterAll
  void close() {
    sabotaged.close();
  }

  @Test
  void withAllSafeguardsTheyStayCancelledWithOneConflictEach() {
    Verdict verdict = run("all-");

    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.inState("CANCELLED")).isEqualTo(ORDERS);
    assertThat(verdict.conflicts()).isEqualTo(ORDERS);
    assertThat(verdict.repeated()).isZero();
  }

  @Test
  void withoutTheStateCheckInSettlingCancelledOrdersBecomePaid() {
    Verdict verdict = run("settling-", Safeguard.STATE_CHECK_IN_SETTLING);

    // Reported for the change of the row, and for the publication that the row contradicts. The
    // repeated payment changes the row once more.
    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.DECIDED_TWICE, 2 * ORDERS, Kind.ROW_CHANGED, ORDERS));
    assertThat(verdict.inState("PAID")).isEqualTo(ORDERS);
  }

  @Test
  void withoutTheCreationCheckInRegistrationDeadlinesMove() {
    Verdict verdict = run("registration-", Safeguard.CREATION_CHECK_IN_REGISTRATION);

    // Reported for the change of the row, and for the row and conflict that result from it.
    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .containsEntry(Kind.ROW_CHANGED, ORDERS)
        .containsKey(Kind.WRONG_FIELDS)
        .hasSize(2);
  }

  /** Consumers can still recognize the repetition by the event id. */
  @Test
  void withoutConflictDeduplicationAConflictIsRepeatedUnderTheSameId() {
    Verdict verdict = run("conflict-", Safeguard.CONFLICT_DEDUPLICATION);

    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.repeated()).isEqualTo(ORDERS);
  }

  @Test
  void withoutConflictDeduplicationAndStableIdsThereAreTwoConflicts() {
    Verdict verdict = run("ids-", Safeguard.CONFLICT_DEDUPLICATION, Safeguard.STABLE_EVENT_IDS);

    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.CONFLICT_TWICE, ORDERS));
  }

  private Verdict run(String prefix, Safeguard... removed) {
    sabotaged.safeguards().remove(removed);
    Instant deadline = Scenario.in(Duration.ofSeconds(1));
    sabotaged.create(prefix, ORDERS, deadline);
    await("cancellations")
        .atMost(SabotagedService.PATIENCE)
        .until(() -> sabotaged.count(prefix, "CANCELLED") == ORDERS);
    sabotaged.create(prefix, ORDERS, deadline.plus(Duration.ofHours(1)));
    sabotaged.pay(prefix, ORDERS);
    // Now the conflicts are published, and deleted from the outbox.
    scenario.awaitQuiet();
    sabotaged.pay(prefix, ORDERS);
    return sabotaged.judge(prefix);
  }
}
