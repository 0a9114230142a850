package io.ordertimeout.it.safeguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Ledger;
import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Orders that somebody else is writing when they are due, so that they cannot be decided at once
 * and have to be woken again.
 */
class ArmingSafeguardIT {

  private static final int ORDERS = 10;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Long enough for what comes, and not too long for what never will. */
  private static final Duration FOR_NOTHING = Duration.ofSeconds(4);

  private static final String[] RARE_BACKSTOP = {"order-timeout.reconciler.interval", "1h"};
  private static final String[] EAGER_BACKSTOP = {
    "order-timeout.reconciler.interval", "1s", "order-timeout.reconciler.confirm-after", "500ms"
  };

  /** What the oracle said, and how many orders the backstop had to arm. */
  private record Outcome(Verdict verdict, double repaired) {}

  @Test
  void asItIsTheyAreCancelledAsSoonAsTheyCanBe() throws SQLException {
    Outcome outcome = play(List.of(), PATIENCE, RARE_BACKSTOP);
    assertThat(outcome.verdict().broken()).isEmpty();
    assertThat(outcome.verdict().inState("CANCELLED")).isEqualTo(ORDERS);
  }

  @Test
  void withoutArmingAgainTheyStayPendingForEver() throws SQLException {
    assertLost(play(List.of(Without.armingAgain()), FOR_NOTHING, RARE_BACKSTOP));
  }

  @Test
  void withoutArmingAgainTheBackstopFindsThem() throws SQLException {
    assertRepaired(play(List.of(Without.armingAgain()), PATIENCE, EAGER_BACKSTOP));
  }

  @Test
  void withoutArmingOfTheRegisteredTheyStayPendingForEver() throws SQLException {
    assertLost(play(Without.armingOfTheRegistered(), FOR_NOTHING, RARE_BACKSTOP));
  }

  @Test
  void withoutArmingOfTheRegisteredTheBackstopFindsThem() throws SQLException {
    assertRepaired(play(Without.armingOfTheRegistered(), PATIENCE, EAGER_BACKSTOP));
  }

  private static void assertLost(Outcome outcome) {
    Verdict verdict = outcome.verdict();
    assertThat(verdict.kinds()).as("%s", verdict).isEqualTo(Map.of(Kind.LOST, ORDERS));
    assertThat(verdict.inState("PENDING")).isEqualTo(ORDERS);
  }

  // In the end the oracle sees nothing of it: it was late, and this is what counted it.
  private static void assertRepaired(Outcome outcome) {
    assertThat(outcome.verdict().broken()).isEmpty();
    assertThat(outcome.verdict().inState("CANCELLED")).isEqualTo(ORDERS);
    assertThat(outcome.repaired()).isEqualTo(ORDERS);
  }

  private static Outcome play(
      List<BeanPostProcessor> sabotage, Duration patience, String... backstop) throws SQLException {
    AtomicInteger decisions = new AtomicInteger();
    List<BeanPostProcessor> seams = new ArrayList<>(sabotage);
    seams.add(Statements.counted(Without.DECISION, decisions));
    try (Scenario scenario = Scenario.create();
        Ledger ledger = Ledger.open(scenario);
        Service service = scenario.startService(seams, backstop)) {
      service.awaitReady(true);
      ledger.watchChanges();
      Instant deadline = Scenario.in(Duration.ofSeconds(4));
      for (int i = 0; i < ORDERS; i++) {
        scenario.create("order-" + i, 0, deadline);
      }
      Database database = scenario.database();
      await("registration").atMost(PATIENCE).until(() -> database.pending() == ORDERS);
      try (Connection other = database.connect();
          Statement statement = other.createStatement()) {
        other.setAutoCommit(false);
        statement.execute("select from order_deadline for update");
        // Nothing is decided of what nobody wakes.
        await("decision in vain")
            .atMost(PATIENCE)
            .until(() -> decisions.get() > 0 || database.now().isAfter(deadline.plusSeconds(1)));
      }
      Verdict verdict = ledger.judge(patience);
      return new Outcome(verdict, service.counter("order.timeout.repaired"));
    }
  }
}
