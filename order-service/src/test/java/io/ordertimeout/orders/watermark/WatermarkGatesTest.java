package io.ordertimeout.orders.watermark;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.order.Watermark;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class WatermarkGatesTest {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final TopicPartition PAID = new TopicPartition("paid", 0);
  private static final TopicPartition CLOSED = new TopicPartition("closed", 0);

  private final Set<Integer> held = new HashSet<>();
  private final WatermarkGates gates = new WatermarkGates(held::contains);
  private final List<String> passed = new ArrayList<>();
  private final List<String> discarded = new ArrayList<>();

  @Test
  void nothingIsRequestedWhileNoOrderWaits() {
    gates.open(0);
    gates.stored(Map.of(PAID, 7L));

    assertThat(gates.toAsk()).isEmpty();
    assertThat(gates.lag(0, at(9))).isZero();
  }

  @Test
  void deadlinePassesOnceAllEndsAreStored() {
    gates.open(0);
    queue("order", 5);
    answer(6, 10, 3);
    assertThat(gates.toAsk()).isEmpty();

    gates.stored(Map.of(PAID, 10L));
    gates.stored(Map.of(CLOSED, 2L));
    assertThat(passed).isEmpty();
    assertThat(gates.lag(0, at(9))).isEqualTo(Duration.ofMillis(4));

    gates.stored(Map.of(CLOSED, 3L));
    assertThat(passed).containsExactly("order by 6");
    assertThat(gates.lag(0, at(9))).isZero();
    assertThat(gates.toAsk()).isEmpty();
  }

  @Test
  void aShardThatIsPausedOrHeldDoesNotWaitForTheWatermark() {
    gates.open(0);
    queue("order", 5);
    assertThat(gates.lag(0, at(9))).isEqualTo(Duration.ofMillis(4));

    held.add(0);
    assertThat(gates.lag(0, at(9))).isZero();
    held.remove(0);
    assertThat(gates.lag(0, at(9))).isEqualTo(Duration.ofMillis(4));
  }

  @Test
  void responsePassesAllDeadlinesUpToItsTimeAndReportsTheLatestRemaining() {
    gates.open(0);
    gates.stored(Map.of(PAID, 1L));
    gates.stored(Map.of(CLOSED, 1L));
    queue("third", 3);
    queue("later", 9);
    queue("second", 2);

    assertThat(answer(3, 1, 1)).isEqualTo(at(9));
    assertThat(passed).containsExactly("third by 3", "second by 3");
    assertThat(gates.toAsk()).containsExactly(0);
    assertThat(answer(9, 1, 1)).isEqualTo(at(9));
    assertThat(passed).hasSize(3).endsWith("later by 9");
  }

  @Test
  void deadlinePassesOnlyByAnAnswerThatWasAskedForAfterItHadComeDue() {
    gates.open(0);
    gates.stored(Map.of(PAID, 1L));
    gates.stored(Map.of(CLOSED, 1L));
    queue("order", 1);
    long question = gates.asking(0);
    queue("due since", 2);

    // The clock was ahead when it was read.
    gates.answered(0, question, watermark(5, 1, 1));
    assertThat(passed).containsExactly("order by 5");
    gates.askAgain(0, question);
    assertThat(gates.toAsk()).containsExactly(0);

    answer(3, 2, 1);
    assertThat(passed).hasSize(1);
    gates.stored(Map.of(PAID, 2L));
    assertThat(passed).containsExactly("order by 5", "due since by 3");
  }

  @Test
  void deadlineFarAheadOfTheClockDoesNotWait() {
    gates.open(0);
    gates.stored(Map.of(PAID, 0L));
    gates.stored(Map.of(CLOSED, 0L));
    queue("in an hour", 3_600_000);
    queue("soon", 1_002);

    answer(2, 0, 0);
    assertThat(passed).containsExactly("in an hour by 2");
    answer(1_002, 0, 0);
    assertThat(passed).endsWith("soon by 1002").hasSize(2);
  }

  @Test
  void shardHasAtMostOneRequestAtATime() {
    gates.open(0);
    queue("one", 1);
    long question = gates.asking(0);
    queue("other", 2);
    assertThat(gates.toAsk()).isEmpty();

    gates.unanswered(0, question);
    assertThat(gates.areInDoubt()).isTrue();
    assertThat(gates.toAsk()).isEmpty();

    gates.askAgain(0, question);
    assertThat(gates.toAsk()).containsExactly(0);
    answer(3, 0, 0);
    assertThat(gates.areInDoubt()).isFalse();
  }

  @Test
  void answerToAQuestionFromBeforeTheShardWasReopenedDoesNotCount() {
    gates.open(0);
    queue("dropped", 1);
    long before = gates.asking(0);
    gates.close(0);
    gates.open(0);
    gates.stored(Map.of(PAID, 0L));
    gates.stored(Map.of(CLOSED, 0L));
    queue("order", 1);
    long after = gates.asking(0);

    gates.answered(0, before, watermark(2, 0, 0));
    gates.unanswered(0, before);
    gates.askAgain(0, before);
    assertThat(passed).isEmpty();
    assertThat(gates.areInDoubt()).isFalse();
    assertThat(gates.toAsk()).isEmpty();

    gates.answered(0, after, watermark(3, 0, 0));
    gates.askAgain(0, after);
    assertThat(passed).containsExactly("order by 3");
    gates.unanswered(0, after);
    assertThat(gates.areInDoubt()).isFalse();
  }

  @Test
  void closingDiscardsWaitersAndDropsStoredPositionsAndTheRequest() {
    gates.open(0);
    gates.stored(Map.of(PAID, 1L));
    gates.stored(Map.of(CLOSED, 1L));
    queue("asked for", 1);
    gates.unanswered(0, gates.asking(0));
    queue("waiting", 1);
    assertThat(discarded).isEmpty();
    gates.close(0);
    assertThat(discarded).containsExactly("asked for", "waiting");
    queue("late", 1);
    assertThat(discarded).containsExactly("asked for", "waiting", "late");
    assertThat(gates.areInDoubt()).isFalse();

    gates.open(0);
    assertThat(gates.toAsk()).isEmpty();
    queue("order", 1);
    answer(3, 1, 1);
    assertThat(passed).isEmpty();
    gates.stored(Map.of(PAID, 1L));
    gates.stored(Map.of(CLOSED, 1L));
    assertThat(passed).containsExactly("order by 3");
    assertThat(discarded).hasSize(3);
  }

  @Test
  void heldShardIsNeitherRequestedNorPassed() {
    gates.open(0);
    gates.stored(Map.of(PAID, 0L));
    gates.stored(Map.of(CLOSED, 0L));
    queue("before", 1);
    answer(2, 0, 0);
    held.add(0);

    queue("held", 1);
    assertThat(passed).containsExactly("before by 2");
    assertThat(gates.toAsk()).isEmpty();

    held.clear();
    assertThat(gates.toAsk()).containsExactly(0);
    answer(3, 0, 0);
    assertThat(passed).containsExactly("before by 2", "held by 3");
  }

  @Test
  void positionsStoredByOtherInstancesCountIfTheirEndsDo() {
    TopicPartition elsewhere = new TopicPartition("paid", 1);
    gates.open(0);
    queue("order", 1);
    gates.answered(0, gates.asking(0), new Watermark(at(2), Map.of(elsewhere, 5L), Map.of(), true));
    assertThat(gates.isAwaitingStorage()).isTrue();
    assertThat(gates.awaitOtherShards()).isTrue();

    gates.storedByOthers(Map.of(elsewhere, 4L));
    assertThat(passed).isEmpty();
    gates.storedByOthers(Map.of(elsewhere, 5L));
    assertThat(passed).containsExactly("order by 2");
    assertThat(gates.isAwaitingStorage()).isFalse();
    assertThat(gates.awaitOtherShards()).isFalse();
  }

  private void queue(String name, int deadlineMillis) {
    gates.whenPassed(
        0,
        at(deadlineMillis),
        watermark ->
            passed.add(name + " by " + Duration.between(START, watermark.time()).toMillis()),
        () -> discarded.add(name));
  }

  private Instant answer(int timeMillis, long paid, long closed) {
    long question = gates.asking(0);
    Instant latest = gates.answered(0, question, watermark(timeMillis, paid, closed));
    gates.askAgain(0, question);
    return latest;
  }

  private static Watermark watermark(int timeMillis, long paid, long closed) {
    return new Watermark(at(timeMillis), Map.of(PAID, paid, CLOSED, closed), Map.of(), false);
  }

  private static Instant at(int millis) {
    return START.plusMillis(millis);
  }
}
