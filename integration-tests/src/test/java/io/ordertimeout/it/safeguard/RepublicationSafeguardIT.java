package io.ordertimeout.it.safeguard;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.oracle.Ledger;
import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;

/** Cancelled orders that are created once more, paid, and paid once more by the same payment. */
class RepublicationSafeguardIT {

  private static final int ORDERS = 10;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @Test
  void asItIsTheyStayCancelledWithOneConflictEach() {
    Verdict verdict = play();
    assertThat(verdict.broken()).isEmpty();
    assertThat(verdict.inState("CANCELLED")).isEqualTo(ORDERS);
    assertThat(verdict.conflicts()).isEqualTo(ORDERS);
    assertThat(verdict.repeated()).isZero();
  }

  @Test
  void withoutTheGuardOfTheSettlingACancelledOrderIsPaid() {
    Verdict verdict = play(Without.theGuardOfTheSettling());
    // Once by the change of the row, once by the publication that the row denies.
    assertThat(verdict.kinds()).as("%s", verdict).isEqualTo(Map.of(Kind.DECIDED_TWICE, 2 * ORDERS));
    assertThat(verdict.inState("PAID")).isEqualTo(ORDERS);
  }

  @Test
  void withoutTheGuardOfTheRegistrationADeadlineMoves() {
    Verdict verdict = play(Without.theGuardOfTheRegistration());
    // The change itself, and then what was made of the row: it and its conflict.
    assertThat(verdict.kinds())
        .as("%s", verdict)
        .containsEntry(Kind.DECIDED_TWICE, ORDERS)
        .containsKey(Kind.WRONG_FIELDS)
        .hasSize(2);
  }

  /** The id of the event stays the same, so whoever reads it can tell that it is the same. */
  @Test
  void withoutOneConflictAPaymentItIsSaidTwiceUnderTheSameId() {
    Verdict verdict = play(Without.oneConflictAPayment());
    assertThat(verdict.broken()).isEmpty();
    assertThat(verdict.repeated()).isEqualTo(ORDERS);
  }

  @Test
  void withoutThatAndStableIdsThereAreTwoConflicts() {
    Verdict verdict = play(Without.oneConflictAPayment(), Without.stableEventIds());
    assertThat(verdict.kinds()).as("%s", verdict).isEqualTo(Map.of(Kind.CONFLICT_TWICE, ORDERS));
  }

  private static Verdict play(BeanPostProcessor... sabotage) {
    try (Scenario scenario = Scenario.create();
        Ledger ledger = Ledger.open(scenario);
        Service service = scenario.startService(List.of(sabotage))) {
      service.awaitReady(true);
      ledger.watchChanges();
      Instant deadline = Scenario.in(Duration.ofSeconds(1));
      create(scenario, deadline);
      scenario.awaitAllDecided();
      create(scenario, deadline.plus(Duration.ofHours(1)));
      pay(scenario);
      scenario.awaitQuiet();
      // By now the conflicts are published, and gone from the outbox.
      pay(scenario);
      return ledger.judge(PATIENCE);
    }
  }

  private static void create(Scenario scenario, Instant deadline) {
    for (int i = 0; i < ORDERS; i++) {
      scenario.create("order-" + i, 0, deadline);
    }
  }

  private static void pay(Scenario scenario) {
    for (int i = 0; i < ORDERS; i++) {
      scenario.pay("order-" + i, 0);
    }
  }
}
