package io.ordertimeout.orders.watermark;

import static org.assertj.core.api.Assertions.assertThat;

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

  @Test
  void nothingIsRequestedWhileNoOrderWaits() {
    gates.open(0);
    gates.stored(PAID, 7);

    assertThat(gates.toAsk()).isEmpty();
    assertThat(gates.lag(0, at(9))).isZero();
  }

  @Test
  void deadlinePassesOnceAllEndsAreStored() {
    gates.open(0);
    queue("order", 5);
    answer(6, 10, 3);
    assertThat(gates.toAsk()).isEmpty();

    gates.stored(PAID, 10);
    gates.stored(CLOSED, 2);
    assertThat(passed).isEmpty();
    assertThat(gates.lag(0, at(9))).isEqualTo(Duration.ofMillis(4));

    gates.stored(CLOSED, 3);
    assertThat(passed).containsExactly("order by 6");
    assertThat(gates.lag(0, at(9))).isZero();
    assertThat(gates.toAsk()).isEmpty();
  }

  @Test
  void responsePassesAllDeadlinesUpToItsTimeAndReportsTheLatestRemaining() {
    gates.open(0);
    gates.stored(PAID, 1);
    gates.stored(CLOSED, 1);
    queue("third", 3);
    queue("later", 9);
    queue("second", 2);

    assertThat(answer(3, 1, 1)).isEqualTo(at(9));
    assertThat(passed).containsExactly("third by 3", "second by 3");
    queue("at once", 3);
    assertThat(passed).hasSize(3).endsWith("at once by 3");
    assertThat(gates.toAsk()).containsExactly(0);
    assertThat(answer(9, 1, 1)).isEqualTo(at(9));
    assertThat(passed).hasSize(4).endsWith("later by 9");
  }

  @Test
  void shardHasAtMostOneRequestAtATime() {
    gates.open(0);
    queue("one", 1);
    gates.asking(0);
    queue("other", 2);
    assertThat(gates.toAsk()).isEmpty();

    gates.unanswered(0);
    assertThat(gates.areInDoubt()).isTrue();
    assertThat(gates.toAsk()).isEmpty();

    gates.askAgain(0);
    assertThat(gates.toAsk()).containsExactly(0);
    answer(3, 0, 0);
    assertThat(gates.areInDoubt()).isFalse();
  }

  @Test
  void shardIsNotInDoubtIfNoOrderWaits() {
    gates.open(0);
    queue("dropped", 1);
    gates.asking(0);
    gates.close(0);
    gates.open(0);
    gates.stored(PAID, 0);
    gates.stored(CLOSED, 0);
    queue("order", 1);
    gates.asking(0);

    // The responses to the request from before the shard was reopened, and to the one after it.
    gates.answered(0, at(2), Map.of(PAID, 0L, CLOSED, 0L));
    gates.askAgain(0);
    gates.unanswered(0);
    gates.askAgain(0);

    assertThat(passed).containsExactly("order by 2");
    assertThat(gates.areInDoubt()).isFalse();
  }

  @Test
  void closingDropsWaitersStoredPositionsAndTheRequest() {
    gates.open(0);
    gates.stored(PAID, 1);
    gates.stored(CLOSED, 1);
    queue("dropped", 1);
    gates.asking(0);
    gates.unanswered(0);
    gates.close(0);
    assertThat(gates.areInDoubt()).isFalse();

    gates.open(0);
    assertThat(gates.toAsk()).isEmpty();
    gates.answered(0, at(2), Map.of(PAID, 1L, CLOSED, 1L));
    queue("order", 1);
    answer(3, 1, 1);
    assertThat(passed).isEmpty();
    gates.stored(PAID, 1);
    gates.stored(CLOSED, 1);
    assertThat(passed).containsExactly("order by 3");
  }

  @Test
  void heldShardIsNeitherRequestedNorPassed() {
    gates.open(0);
    gates.stored(PAID, 0);
    gates.stored(CLOSED, 0);
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
    gates.asking(0);
    gates.answered(0, at(2), Map.of(elsewhere, 5L));
    assertThat(gates.awaitStored()).isTrue();

    gates.stored(Map.of(elsewhere, 4L));
    assertThat(passed).isEmpty();
    gates.stored(Map.of(elsewhere, 5L));
    assertThat(passed).containsExactly("order by 2");
    assertThat(gates.awaitStored()).isFalse();
  }

  private void queue(String name, int deadlineMillis) {
    gates.whenPassed(
        0,
        at(deadlineMillis),
        watermark -> passed.add(name + " by " + Duration.between(START, watermark).toMillis()));
  }

  private Instant answer(int timeMillis, long paid, long closed) {
    gates.asking(0);
    Instant latest = gates.answered(0, at(timeMillis), Map.of(PAID, paid, CLOSED, closed));
    gates.askAgain(0);
    return latest;
  }

  private static Instant at(int millis) {
    return START.plusMillis(millis);
  }
}
