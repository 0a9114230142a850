package io.ordertimeout.it.safeguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.ledger.Ledger;
import io.ordertimeout.it.ledger.Verdict;
import io.ordertimeout.it.ledger.Violation.Kind;
import io.ordertimeout.it.rig.Service;
import io.ordertimeout.it.rig.Stage;
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
    try (Play play = new Play(stage -> List.of(), List.of())) {
      assertThat(play.committed).isFalse();
      assertThat(play.noted).isFalse();
      assertClean(play.judge(PATIENCE));
    }
  }

  @Test
  void withoutCommittingAfterTheStoreTheyAreLost() {
    try (Play play =
        new Play(
            stage ->
                List.of(
                    Without.kafkasCommitAfterTheStore(),
                    Without.postgresPositionsWithTheStore(stage.database())),
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
    try (Play play = new Play(stage -> List.of(Without.kafkasCommitAfterTheStore()), List.of())) {
      assertThat(play.committed).isTrue();
      assertThat(play.noted).isFalse();
      assertClean(play.judge(PATIENCE));
    }
  }

  @Test
  void aPositionInPostgresAheadOfTheStoreIsMendedByTheCommitToKafka() {
    try (Play play =
        new Play(
            stage -> List.of(Without.postgresPositionsWithTheStore(stage.database())), List.of())) {
      assertThat(play.committed).isFalse();
      assertThat(play.noted).isTrue();
      assertClean(play.judge(PATIENCE));
    }
  }

  @Test
  void withoutTheRebuildTheOrdersOfThePredecessorStayPendingForEver() {
    try (Play play = new Play(stage -> List.of(), List.of(Without.theRebuild()))) {
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

    private final Stage stage = Stage.create();
    private final Ledger ledger = Ledger.open(stage);
    private final Instant deadline;

    /** Whether Kafka was told that what was not stored is done with. */
    final boolean committed;

    /** Whether Postgres says so. */
    final boolean noted;

    private final Service second;

    Play(
        Function<Stage, List<BeanPostProcessor>> sabotageOfTheFirst,
        List<BeanPostProcessor> sabotageOfTheSecond) {
      HeldIntake intake = new HeldIntake();
      FailingStore store = new FailingStore();
      List<BeanPostProcessor> seams = new ArrayList<>(sabotageOfTheFirst.apply(stage));
      seams.add(intake.seam());
      seams.addAll(store.seams());
      try (Service first = stage.startService(seams);
          intake) {
        first.awaitReady(true);
        ledger.watchChanges();
        deadline = Stage.in(Duration.ofSeconds(11));
        create("unpaid");
        create("paid");
        stage.awaitQuiet();
        // So that all of it is read at once.
        intake.hold();
        create("new");
        for (int i = 0; i < ORDERS; i++) {
          stage.pay("paid-" + i, 0);
        }
        store.fail();
        intake.release();
        Map<TopicPartition, Long> ends = stage.inputEnds();
        await("the last records").atMost(PATIENCE).until(() -> store.hasRead(ends));
      }
      assertThat(stage.database().now()).isBefore(deadline);
      committed = stage.committed(stage.inputEnds());
      noted =
          stage.database().count("select sum(next_offset) from intake_position")
              == stage.inputEnds().values().stream().mapToLong(Long::longValue).sum();
      second = stage.startService(sabotageOfTheSecond);
    }

    private void create(String kind) {
      for (int i = 0; i < ORDERS; i++) {
        stage.create(kind + "-" + i, 0, deadline);
      }
    }

    Verdict judge(Duration patience) {
      second.awaitReady(true);
      stage.awaitPast(deadline);
      return ledger.judge(patience);
    }

    @Override
    public void close() {
      second.close();
      ledger.close();
      stage.close();
    }
  }
}
