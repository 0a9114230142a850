package io.ordertimeout.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class ContestantTest {

  private static final int SIZE = 1_000;

  private final SplittableRandom random = new SplittableRandom(1);

  @ParameterizedTest
  @EnumSource(
      value = ContestantKind.class,
      names = {"NOTHING", "NOTHING_BATCH"},
      mode = EnumSource.Mode.EXCLUDE)
  void firesWhatIsNotCancelledOnce(ContestantKind kind) throws Exception {
    BlockingQueue<Long> fired = new LinkedBlockingQueue<>();
    OrderBatch all = new OrderBatch(SIZE);
    OrderBatch cancelled = new OrderBatch(SIZE);
    Set<Long> expected = new HashSet<>();
    try (Contestant contestant = kind.start(SIZE, 1, fired::add)) {
      for (int place = 0; place < SIZE; place++) {
        long id = random.nextLong();
        if (place % 2 == 0) {
          // Far enough not to fire before it is cancelled.
          all.add(place, id, 900_000);
          cancelled.add(place, id, 0);
        } else {
          all.add(place, id, random.nextLong(50));
          expected.add(id);
        }
      }
      contestant.schedule(all);
      contestant.cancel(cancelled);
      contestant.settle();
      if (kind.simulated()) {
        SimulatedTime.advance(contestant, 1_000_000);
      }

      List<Long> ids = new ArrayList<>();
      while (ids.size() < expected.size()) {
        Long id = fired.poll(30, TimeUnit.SECONDS);
        assertThat(id).as("fired after %d", ids.size()).isNotNull();
        ids.add(id);
      }
      assertThat(ids).containsExactlyInAnyOrderElementsOf(expected);
    }
    assertThat(fired).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(ContestantKind.class)
  void keepsAsManyPendingAsTheBookHolds(ContestantKind kind) {
    OrderBook book = new OrderBook(SIZE, kind.batchSize(), 1);
    try (Contestant contestant = kind.start(SIZE, 10, id -> {})) {
      book.fill(contestant, new StallMeter());
      for (int i = 0; i < 1_000; i++) {
        book.replace(contestant);
      }
      contestant.settle();
      assertThat(contestant.pending()).isEqualTo(SIZE);

      book.cancelAll(contestant);
      contestant.settle();
      assertThat(contestant.pending()).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = ContestantKind.class,
      names = {"WHEEL", "WHEEL_BATCH", "AGRONA"})
  void losesNoOrderInItsWholeLife(ContestantKind kind) {
    Figure pending =
        new WholeLifeTask(64)
            .run(kind, SIZE, Effort.QUICK).stream()
                .filter(figure -> figure.name().equals("pending"))
                .findFirst()
                .orElseThrow();
    assertThat(pending.value()).isBetween(SIZE * 0.8, SIZE * 1.2);
  }
}
