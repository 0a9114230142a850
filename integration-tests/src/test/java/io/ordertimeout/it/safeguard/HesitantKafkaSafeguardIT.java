package io.ordertimeout.it.safeguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Ledger;
import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;

/** Cancellations that Kafka refuses at first, and then takes without the service hearing of it. */
class HesitantKafkaSafeguardIT {

  private static final int ORDERS = 10;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @Test
  void asItIsEachIsToldUnderOneIdHoweverOften() {
    Verdict verdict = play();
    assertThat(verdict.broken()).isEmpty();
    assertThat(verdict.inState("CANCELLED")).isEqualTo(ORDERS);
    assertThat(verdict.repeated()).isEqualTo(ORDERS);
  }

  @Test
  void withoutTheOutboxNobodyIsToldOfACancellation() {
    Verdict verdict = play(Without.theOutbox());
    assertThat(verdict.kinds()).as("%s", verdict).isEqualTo(Map.of(Kind.LOST, ORDERS));
    assertThat(verdict.inState("CANCELLED")).isEqualTo(ORDERS);
  }

  @Test
  void withoutStableIdsOneCancellationIsTwo() {
    Verdict verdict = play(Without.stableEventIds());
    assertThat(verdict.kinds()).as("%s", verdict).isEqualTo(Map.of(Kind.DECIDED_TWICE, ORDERS));
  }

  private static Verdict play(BeanPostProcessor... sabotage) {
    HesitantKafka kafka = new HesitantKafka();
    List<BeanPostProcessor> seams =
        Stream.concat(Stream.of(kafka.seam()), Stream.of(sabotage)).toList();
    try (Scenario scenario = Scenario.create();
        Ledger ledger = Ledger.open(scenario);
        Service service = scenario.startService(seams)) {
      service.awaitReady(true);
      ledger.watchChanges();
      Instant deadline = Scenario.in(Duration.ofSeconds(1));
      for (int i = 0; i < ORDERS; i++) {
        scenario.create("order-" + i, 0, deadline);
      }
      await("first attempts").atMost(PATIENCE).until(() -> kafka.attempted() == ORDERS);
      return ledger.judge(PATIENCE);
    }
  }
}
