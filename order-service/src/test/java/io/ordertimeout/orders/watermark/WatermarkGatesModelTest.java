package io.ordertimeout.orders.watermark;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.order.Watermark;
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
 * Tests the gates against a model in which records are appended, stored and asked about in random
 * order: no order passes ahead of a payment, nothing is requested without an order that waits for
 * it, and every order passes in the end.
 */
class WatermarkGatesModelTest {

  private static final int SHARDS = 3;
  private static final int STEPS = 400;

  @Property(tries = 3_000, shrinking = ShrinkingMode.OFF)
  void noOrderPassesAheadOfAPaymentAndEveryOrderPassesInTheEnd(@ForAll long seed) {
    Model model = new Model(new Random(seed));
    for (int i = 0; i < STEPS; i++) {
      model.step();
    }
    model.settle();
  }

  /** A model of Kafka, Postgres's clock, the intake and waiting orders; each step takes 1 ms. */
  private static final class Model {

    private record Waiter(int number, int shard, Instant deadline) {}

    private record Request(int shard, long question, Instant time) {}

    private final Random random;
    private final Set<Integer> held = new HashSet<>();
    private final WatermarkGates gates = new WatermarkGates(held::contains);
    private final Map<TopicPartition, List<Instant>> appended = new HashMap<>();
    private final Map<TopicPartition, Long> stored = new HashMap<>();
    private final Set<Integer> open = new HashSet<>();
    private final Set<Waiter> waiting = new HashSet<>();
    private final List<Request> requests = new ArrayList<>();
    private int waiterCount;
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");

    Model(Random random) {
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
        case 7, 8, 9, 10 -> store();
        case 11, 12, 13 -> queue(shard);
        case 14, 15 -> ask();
        default -> answer();
      }
      assertThat(gates.toAsk()).isSubsetOf(shardsToAsk());
    }

    /** Lifts all holds, stores all records and answers all requests. */
    void settle() {
      held.clear();
      now = now.plusSeconds(1);
      for (int shard = 0; shard < SHARDS; shard++) {
        store(
            partitions(shard).stream()
                .collect(Collectors.toMap(p -> p, partition -> (long) appended(partition).size())));
      }
      while (!requests.isEmpty() || !gates.toAsk().isEmpty()) {
        ask();
        answer();
      }
      assertThat(waiting).isEmpty();
      assertThat(gates.areInDoubt()).isFalse();
      assertThat(gates.isAwaitingStorage()).isFalse();
    }

    private void open(int shard) {
      if (open.add(shard)) {
        gates.open(shard);
        partitions(shard).forEach(partition -> stored.put(partition, 0L));
      }
    }

    private void close(int shard) {
      open.remove(shard);
      gates.close(shard);
      assertThat(waiting).extracting(Waiter::shard).doesNotContain(shard);
    }

    private void hold(int shard) {
      if (!held.remove(shard)) {
        held.add(shard);
      }
    }

    private void append(int shard) {
      appended(partitions(shard).get(random.nextInt(2))).add(now);
    }

    /** Stores a batch: some of what is in some partitions. */
    private void store() {
      Map<TopicPartition, Long> batch = new HashMap<>();
      for (int i = random.nextInt(SHARDS); i >= 0; i--) {
        TopicPartition partition = partitions(random.nextInt(SHARDS)).get(random.nextInt(2));
        long from = stored.getOrDefault(partition, 0L);
        batch.put(partition, from + random.nextInt(appended(partition).size() - (int) from + 1));
      }
      store(batch);
    }

    private void store(Map<TopicPartition, Long> batch) {
      batch.keySet().removeIf(partition -> !open.contains(partition.partition()));
      stored.putAll(batch);
      gates.stored(batch);
    }

    /** Queues an order that is due by a clock up to 4 ms off Postgres's. */
    private void queue(int shard) {
      Waiter waiter = new Waiter(waiterCount++, shard, now.plusMillis(random.nextInt(8) - 4));
      waiting.add(waiter);
      gates.whenPassed(
          shard, waiter.deadline, watermark -> passed(waiter, watermark), () -> discarded(waiter));
      assertThat(waiting.contains(waiter)).isEqualTo(open.contains(shard));
    }

    private void discarded(Waiter waiter) {
      assertThat(waiting.remove(waiter)).as("waits").isTrue();
      assertThat(open).doesNotContain(waiter.shard);
    }

    private void passed(Waiter waiter, Watermark watermark) {
      assertThat(waiting.remove(waiter)).as("waits").isTrue();
      assertThat(watermark.time()).isAfterOrEqualTo(waiter.deadline);
      for (TopicPartition partition : partitions(waiter.shard)) {
        long before = appended(partition).stream().filter(waiter.deadline::isAfter).count();
        assertThat(stored.get(partition)).as("stored").isGreaterThanOrEqualTo(before);
      }
    }

    private void ask() {
      gates
          .toAsk()
          .forEach(
              shard -> {
                requests.add(new Request(shard, gates.asking(shard), now));
              });
    }

    private void answer() {
      if (requests.isEmpty()) {
        return;
      }
      Request request = requests.remove(random.nextInt(requests.size()));
      if (random.nextInt(4) == 0) {
        gates.unanswered(request.shard, request.question);
      } else {
        gates.answered(
            request.shard,
            request.question,
            new Watermark(
                request.time,
                partitions(request.shard).stream()
                    .collect(Collectors.toMap(p -> p, p -> (long) appended(p).size())),
                Map.of(),
                false));
      }
      gates.askAgain(request.shard, request.question);
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
