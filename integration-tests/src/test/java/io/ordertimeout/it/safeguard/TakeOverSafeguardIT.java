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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * A service that dies with new orders, and payments of orders that it knows, read and not stored;
 * and the one that comes after it.
 */
class TakeOverSafeguardIT {

  private static final int ORDERS = 5;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Long enough for what comes, and not too long for what never will. */
  private static final Duration FOR_NOTHING = Duration.ofSeconds(4);

  @Test
  void asItIsTheNextOneStoresThem() {
    try (Play play = new Play(scenario -> List.of(), List.of())) {
      assertThat(play.committed).isFalse();
      assertThat(play.noted).isFalse();
      assertClean(play.judge(PATIENCE));
    }
  }

  @Test
  void withoutCommittingAfterTheStoreTheyAreLost() {
    try (Play play =
        new Play(
            scenario ->
                List.of(
                    Without.kafkasCommitAfterTheStore(),
                    Without.postgresPositionsWithTheStore(scenario.database())),
            List.of())) {
      assertThat(play.committed).isTrue();
      assertThat(play.noted).isTrue();
      Verdict verdict = play.judge(PATIENCE);
      assertThat(verdict.kinds())
          .as("%s", verdict)
          .isEqualTo(
              Map.of(
                  // The new orders.
                  Kind.LOST,
                  ORDERS,
                  // The known ones.
                  Kind.PAID_YET_CANCELLED,
                  ORDERS,
                  Kind.CONFLICT_MISSING,
                  ORDERS));
    }
  }

  @Test
  void aCommitToKafkaAheadOfTheStoreIsMendedByThePositionInPostgres() {
    try (Play play =
        new Play(scenario -> List.of(Without.kafkasCommitAfterTheStore()), List.of())) {
      assertThat(play.committed).isTrue();
      assertThat(play.noted).isFalse();
      assertClean(play.judge(PATIENCE));
    }
  }

  @Test
  void aPositionInPostgresAheadOfTheStoreIsMendedByTheCommitToKafka() {
    try (Play play =
        new Play(
            scenario -> List.of(Without.postgresPositionsWithTheStore(scenario.database())),
            List.of())) {
      assertThat(play.committed).isFalse();
      assertThat(play.noted).isTrue();
      assertClean(play.judge(PATIENCE));
    }
  }

  @Test
  void withoutTheRebuildTheOrdersOfThePredecessorStayPendingForEver() {
    try (Play play = new Play(scenario -> List.of(), List.of(Without.theRebuild()))) {
      Verdict verdict = play.judge(FOR_NOTHING);
      assertThat(verdict.kinds()).as("%s", verdict).isEqualTo(Map.of(Kind.LOST, ORDERS));
      assertThat(verdict.inState("PENDING")).isEqualTo(ORDERS);
    }
  }

  private static void assertClean(Verdict verdict) {
    assertThat(verdict.broken()).isEmpty();
    assertThat(verdict.inState("PAID")).isEqualTo(ORDERS);
    assertThat(verdict.inState("CANCELLED")).isEqualTo(2 * ORDERS);
  }

  /** The scenario up to the death of the first service, and the second one at work. */
  private static final class Play implements AutoCloseable {

    private final Scenario scenario = Scenario.create();
    private final Ledger ledger = Ledger.open(scenario);
    private final Instant deadline;

    /** Whether Kafka was told that what was not stored is done with. */
    final boolean committed;

    /** Whether Postgres says so. */
    final boolean noted;

    private final Service second;

    Play(
        Function<Scenario, List<BeanPostProcessor>> sabotageOfTheFirst,
        List<BeanPostProcessor> sabotageOfTheSecond) {
      HeldIntake intake = new HeldIntake();
      FailingStore store = new FailingStore();
      List<BeanPostProcessor> seams = new ArrayList<>(sabotageOfTheFirst.apply(scenario));
      seams.add(intake.seam());
      seams.addAll(store.seams());
      try (Service first = scenario.startService(seams);
          intake) {
        first.awaitReady(true);
        ledger.watchChanges();
        deadline = Scenario.in(Duration.ofSeconds(11));
        create("unpaid");
        create("paid");
        scenario.awaitQuiet();
        // So that all of it is read at once.
        intake.hold();
        create("new");
        for (int i = 0; i < ORDERS; i++) {
          scenario.pay("paid-" + i, 0);
        }
        store.fail();
        intake.release();
        Map<TopicPartition, Long> ends = scenario.inputEnds();
        await("the last records").atMost(PATIENCE).until(() -> store.hasRead(ends));
      }
      assertThat(scenario.database().now()).isBefore(deadline);
      committed = scenario.committed(scenario.inputEnds());
      noted =
          scenario.database().count("select sum(next_offset) from intake_position")
              == scenario.inputEnds().values().stream().mapToLong(Long::longValue).sum();
      second = scenario.startService(sabotageOfTheSecond);
    }

    private void create(String kind) {
      for (int i = 0; i < ORDERS; i++) {
        scenario.create(kind + "-" + i, 0, deadline);
      }
    }

    Verdict judge(Duration patience) {
      second.awaitReady(true);
      scenario.awaitPast(deadline);
      return ledger.judge(patience);
    }

    @Override
    public void close() {
      second.close();
      ledger.close();
      scenario.close();
    }
  }
}
