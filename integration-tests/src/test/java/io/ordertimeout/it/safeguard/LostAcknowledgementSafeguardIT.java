package io.ordertimeout.it.safeguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.DeadLetterJudge;
import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Shop;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Cancellations and dead letters that Kafka first rejects, and then takes without an
 * acknowledgement.
 */
@Tag("faults")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class LostAcknowledgementSafeguardIT {

  // The relay repeats failed events one by one, so more orders take longer and show no more.
  private static final int ORDERS = 3;

  private final FlakyProducer producer = new FlakyProducer();
  private final Scenario scenario = Scenario.create();
  private final SabotagedService sabotaged =
      SabotagedService.start(scenario, List.of(producer.interceptor()));

  @AfterEach
  void restore() {
    sabotaged.safeguards().restoreAll();
  }

  @AfterAll
  void close() {
    sabotaged.close();
  }

  @Test
  void withAllSafeguardsRepeatedCancellationsHaveTheSameId() {
    Verdict verdict = run("all-");

    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.inState("CANCELLED")).isEqualTo(ORDERS);
    assertThat(verdict.repeated()).isEqualTo(ORDERS);
  }

  @Test
  void withoutTheOutboxCancellationsAreNotPublishedAfterARestart() {
    producer.rejectAll(true);
    attempt("outbox-", Safeguard.OUTBOX);
    sabotaged.stop();
    producer.rejectAll(false);
    sabotaged.startSuccessor();
    Verdict verdict = sabotaged.judge("outbox-");

    assertThat(verdict.violationCounts()).as("%s", verdict).isEqualTo(Map.of(Kind.LOST, ORDERS));
    assertThat(verdict.inState("CANCELLED")).isEqualTo(ORDERS);
  }

  @Test
  void withoutStableIdsOneCancellationBecomesTwo() {
    Verdict verdict = run("ids-", Safeguard.STABLE_EVENT_IDS);

    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.DECIDED_TWICE, ORDERS));
  }

  /** The last test, because every verdict contains all dead letters. */
  @Test
  @Order(Integer.MAX_VALUE)
  void withoutTheAcknowledgementNeitherCancellationsNorDeadLettersArePublished() {
    Verdict verdict = run("acknowledgement-", Safeguard.ACKNOWLEDGEMENT);

    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.LOST, ORDERS, Kind.DEAD_LETTER_MISSING, 1));
    assertThat(verdict.inState("CANCELLED")).isEqualTo(ORDERS);
  }

  private Verdict run(String prefix, Safeguard... removed) {
    attempt(prefix, removed);
    return sabotaged.judge(prefix);
  }

  private void attempt(String prefix, Safeguard... removed) {
    sabotaged.safeguards().remove(removed);
    sabotaged.create(prefix, ORDERS, Scenario.in(Duration.ofSeconds(1)));
    ProducerRecord<byte[], byte[]> garbage =
        new ProducerRecord<>(
            scenario.topics().created(), Shop.utf8(prefix + "garbage"), Shop.utf8("no JSON"));
    garbage.headers().add(DeadLetterJudge.GARBAGE_HEADER, Shop.utf8("yes"));
    Shop.await(scenario.shop().send(garbage));
    await("first attempts").until(() -> producer.attempted(prefix) == ORDERS + 1);
  }
}
