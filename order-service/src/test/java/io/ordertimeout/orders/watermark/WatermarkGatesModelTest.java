package io.ordertimeout.orders.watermark;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import org.apache.kafka.common.TopicPartition;

/**
 * The gates against logs that grow, are stored and are asked for in any order: nobody passes ahead
 * of a payment, nobody is asked about in vain, and everybody passes in the end.
 */
class WatermarkGatesModelTest {

  private static final int SHARDS = 3;
  private static final int STEPS = 400;

  @Property(tries = 3_000, shrinking = ShrinkingMode.OFF)
  void nobodyPassesAheadOfAPaymentAndEverybodyPassesInTheEnd(@ForAll long seed) {
    World world = new World(new Random(seed));
    for (int i = 0; i < STEPS; i++) {
      world.step();
    }
    world.settle();
  }

  /** Kafka, Postgres's clock, the intake, and those who wait; time passes with every step. */
  private static final class World {

    private record Waiter(int number, int shard, Instant deadline) {}

    private record Question(int shard, Instant time) {}

    private final Random random;
    private final Set<Integer> held = new HashSet<>();
    private final WatermarkGates gates = new WatermarkGates(held::contains);
    private final Map<TopicPartition, List<Instant>> appended = new HashMap<>();
    private final Map<TopicPartition, Integer> stored = new HashMap<>();
    private final Set<Integer> open = new HashSet<>();
    private final Set<Waiter> waiting = new HashSet<>();
    private final List<Question> questions = new ArrayList<>();
    private int comers;
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");

    World(Random random) {
      this.random = random;
      for (int shard = 0; shard < SHARDS; shard++) {
        partitions(shard).forEach(partition -> appended.put(partition, new ArrayList<>()));
        open(shard);
      }
    }

    void step() {
      now = now.plusMillis(1);
      int shard = random.nextInt(SHARDS);
      switch (random.nextInt(20)) {
        case 0 -> close(shard);
        case 1 -> open(shard);
        case 2 -> hold(shard);
        case 3, 4, 5, 6 -> append(shard);
        case 7, 8, 9, 10 -> store(shard);
        case 11, 12, 13 -> queue(shard);
        case 14, 15 -> ask();
        default -> answer();
      }
      assertThat(gates.toAsk()).isSubsetOf(shardsToAsk());
    }

    /** Everything is stored and answered, and nothing is held. */
    void settle() {
      held.clear();
      now = now.plusSeconds(1);
      for (int shard = 0; shard < SHARDS; shard++) {
        partitions(shard).forEach(partition -> store(partition, appended(partition).size()));
      }
      while (!questions.isEmpty() || !gates.toAsk().isEmpty()) {
        ask();
        answer();
      }
      assertThat(waiting).isEmpty();
      assertThat(gates.areInDoubt()).isFalse();
      assertThat(gates.awaitStored()).isFalse();
    }

    private void open(int shard) {
      if (open.add(shard)) {
        gates.open(shard);
        partitions(shard).forEach(partition -> stored.put(partition, 0));
      }
    }

    private void close(int shard) {
      open.remove(shard);
      gates.close(shard);
      waiting.removeIf(waiter -> waiter.shard == shard);
    }

    private void hold(int shard) {
      if (!held.remove(shard)) {
        held.add(shard);
      }
    }

    private void append(int shard) {
      appended(partitions(shard).get(random.nextInt(2))).add(now);
    }

    private void store(int shard) {
      TopicPartition partition = partitions(shard).get(random.nextInt(2));
      int from = stored.getOrDefault(partition, 0);
      store(partition, from + random.nextInt(appended(partition).size() - from + 1));
    }

    private void store(TopicPartition partition, int position) {
      if (open.contains(partition.partition())) {
        stored.put(partition, position);
        gates.stored(partition, position);
      }
    }

    /** Somebody comes who is due by a clock that may be ahead of Postgres's. */
    private void queue(int shard) {
      if (open.contains(shard)) {
        Waiter waiter = new Waiter(comers++, shard, now.plusMillis(random.nextInt(8) - 4));
        waiting.add(waiter);
        gates.whenPassed(shard, waiter.deadline, watermark -> passed(waiter, watermark));
      }
    }

    private void passed(Waiter waiter, Instant watermark) {
      assertThat(waiting.remove(waiter)).as("waits").isTrue();
      assertThat(watermark).isAfterOrEqualTo(waiter.deadline);
      for (TopicPartition partition : partitions(waiter.shard)) {
        long before = appended(partition).stream().filter(waiter.deadline::isAfter).count();
        assertThat(stored.get(partition)).as("stored").isGreaterThanOrEqualTo((int) before);
      }
    }

    private void ask() {
      gates
          .toAsk()
          .forEach(
              shard -> {
                gates.asking(shard);
                questions.add(new Question(shard, now));
              });
    }

    private void answer() {
      if (questions.isEmpty()) {
        return;
      }
      Question question = questions.remove(random.nextInt(questions.size()));
      if (random.nextInt(4) == 0) {
        gates.unanswered(question.shard);
      } else {
        gates.answered(
            question.shard,
            question.time,
            partitions(question.shard).stream()
                .collect(Collectors.toMap(p -> p, p -> (long) appended(p).size())));
      }
      gates.askAgain(question.shard);
    }

    private Set<Integer> shardsToAsk() {
      return waiting.stream()
          .map(Waiter::shard)
          .filter(shard -> !held.contains(shard))
          .collect(Collectors.toSet());
    }

    private List<Instant> appended(TopicPartition partition) {
      return appended.getOrDefault(partition, List.of());
    }

    private static List<TopicPartition> partitions(int shard) {
      return Stream.of("paid", "closed").map(topic -> new TopicPartition(topic, shard)).toList();
    }
  }
}
