package io.ordertimeout.it.safeguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.UnreadRecords;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * A service that ends after it read, but did not store, new orders and payments of known orders;
 * and its successor. The successor of one test is the service that ends in the next one.
 */
@Tag("faults")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(60)
class TakeOverSafeguardIT {

  private static final int ORDERS = 5;

  /** Long enough for a decision that comes, and short for one that never will. */
  private static final Duration PATIENCE_FOR_LOST_ORDERS = Duration.ofSeconds(4);

  private final Scenario scenario = Scenario.create();
  private final UnreadRecords payments = new UnreadRecords(scenario.topics().paid());
  private final FailingStore store = new FailingStore();
  private final SabotagedService sabotaged = SabotagedService.start(scenario, interceptors());

  private List<BeanPostProcessor> interceptors() {
    List<BeanPostProcessor> interceptors = new ArrayList<>();
    interceptors.add(payments.interceptor());
    interceptors.addAll(store.interceptors());
    return interceptors;
  }

  @AfterEach
  void restore() {
    sabotaged.safeguards().restoreAll();
  }

  @AfterAll
  void close() {
    sabotaged.close();
  }

  @Test
  void withAllSafeguardsTheSuccessorStoresThem() {
    endAfterReading("all-");
    assertThat(isCommittedToKafka()).isFalse();
    assertThat(isRecordedInPostgres()).isFalse();

    sabotaged.startSuccessor();

    assertAllStored("all-");
  }

  @Test
  void withoutBothPositionsAfterTheStoreTheyAreLost() {
    endAfterReading(
        "both-", Safeguard.KAFKA_COMMIT_AFTER_STORE, Safeguard.POSTGRES_POSITIONS_WITH_STORE);
    assertThat(isCommittedToKafka()).isTrue();
    assertThat(isRecordedInPostgres()).isTrue();

    sabotaged.startSuccessor();

    Verdict verdict = judge("both-", SabotagedService.PATIENCE);
    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(
            Map.of(
                // The new orders.
                Kind.LOST,
                ORDERS,
                // The known orders.
                Kind.PAID_YET_CANCELLED,
                ORDERS,
                Kind.CONFLICT_MISSING,
                ORDERS));
  }

  @Test
  void thePositionInPostgresMakesUpForAnEarlyCommitToKafka() {
    endAfterReading("kafka-", Safeguard.KAFKA_COMMIT_AFTER_STORE);
    assertThat(isCommittedToKafka()).isTrue();
    assertThat(isRecordedInPostgres()).isFalse();

    sabotaged.startSuccessor();

    assertAllStored("kafka-");
  }

  @Test
  void theCommitToKafkaMakesUpForAnEarlyPositionInPostgres() {
    endAfterReading("postgres-", Safeguard.POSTGRES_POSITIONS_WITH_STORE);
    assertThat(isCommittedToKafka()).isFalse();
    assertThat(isRecordedInPostgres()).isTrue();

    sabotaged.startSuccessor();

    assertAllStored("postgres-");
  }

  @Test
  void withoutTheRebuildKnownOrdersStayPending() {
    endAfterReading("rebuild-");
    sabotaged.safeguards().remove(Safeguard.REBUILD);

    sabotaged.startSuccessor();

    Verdict verdict = judge("rebuild-", PATIENCE_FOR_LOST_ORDERS);
    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.LOST, ORDERS, Kind.NOT_QUIET, 1));
    assertThat(verdict.inState("PENDING")).isEqualTo(ORDERS);
  }

  /** Ends the service; the removed safeguards are restored before the successor starts. */
  private void endAfterReading(String prefix, Safeguard... removed) {
    payments.block();
    // Paid before the deadline is chosen, so the payments are in time on a machine of any speed.
    // While they are unread, the watermark holds all orders of the shard back.
    sabotaged.pay(prefix + "paid-", ORDERS);
    Instant deadline = Scenario.in(Duration.ofSeconds(1));
    sabotaged.create(prefix + "unpaid-", ORDERS, deadline);
    sabotaged.create(prefix + "paid-", ORDERS, deadline);
    await("known orders").until(() -> sabotaged.count(prefix, "PENDING") == 2 * ORDERS);
    // Offsets are committed a moment after their records are stored.
    Map<TopicPartition, Long> known = new HashMap<>(scenario.inputEnds());
    known.keySet().removeIf(partition -> !partition.topic().equals(scenario.topics().created()));
    await("the commit of their offsets").until(() -> scenario.committed(known));
    sabotaged.safeguards().remove(removed);
    store.fail();
    sabotaged.create(prefix + "new-", ORDERS, deadline);
    payments.unblock();
    Map<TopicPartition, Long> ends = scenario.inputEnds();
    await("the last records").until(() -> store.hasRead(ends));
    sabotaged.stop();
    store.recover();
    sabotaged.safeguards().restoreAll();
    assertThat(sabotaged.count(prefix, "PENDING")).isEqualTo(2 * ORDERS);
  }

  private boolean isCommittedToKafka() {
    return scenario.committed(scenario.inputEnds());
  }

  private boolean isRecordedInPostgres() {
    return scenario.database().count("select sum(next_offset) from intake_position")
        == scenario.inputEnds().values().stream().mapToLong(Long::longValue).sum();
  }

  private Verdict judge(String prefix, Duration patience) {
    sabotaged.service().awaitReady(true);
    return sabotaged.oracle().judge(patience, prefix);
  }

  private void assertAllStored(String prefix) {
    Verdict verdict = judge(prefix, SabotagedService.PATIENCE);
    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.inState("PAID")).isEqualTo(ORDERS);
    assertThat(verdict.inState("CANCELLED")).isEqualTo(2 * ORDERS);
  }
}
