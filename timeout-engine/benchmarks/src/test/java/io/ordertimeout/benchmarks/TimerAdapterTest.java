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
class TimerAdapterTest {

  private static final int SIZE = 1_000;

  private final SplittableRandom random = new SplittableRandom(1);

  @ParameterizedTest
  @EnumSource(
      value = Implementation.class,
      names = {"NO_OP", "NO_OP_BATCH"},
      mode = EnumSource.Mode.EXCLUDE)
  void expiresEveryUncancelledTimerOnce(Implementation implementation) throws Exception {
    BlockingQueue<Long> fired = new LinkedBlockingQueue<>();
    OrderBatch all = new OrderBatch(SIZE);
    OrderBatch cancelled = new OrderBatch(SIZE);
    Set<Long> expected = new HashSet<>();
    try (TimerAdapter timers = implementation.start(SIZE, 1, fired::add)) {
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
      timers.schedule(all);
      timers.cancel(cancelled);
      timers.settle();
      if (implementation.simulated()) {
        SimulatedTime.advance(timers, 1_000_000);
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
  @EnumSource(Implementation.class)
  void keepsTheExpectedNumberPending(Implementation implementation) {
    PendingOrders book = new PendingOrders(SIZE, implementation.batchSize(), 1);
    try (TimerAdapter timers = implementation.start(SIZE, 10, id -> {})) {
      book.fill(timers, new StallMeter());
      for (int i = 0; i < 1_000; i++) {
        book.replace(timers);
      }
      timers.settle();
      assertThat(timers.pending()).isEqualTo(SIZE);

      book.cancelAll(timers);
      timers.settle();
      assertThat(timers.pending()).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Implementation.class,
      names = {"WHEEL", "WHEEL_BATCH", "AGRONA"})
  void losesNoOrderOverItsLifecycle(Implementation implementation) {
    Figure pending =
        new OrderLifecycleTask(64)
            .run(implementation, SIZE, Effort.QUICK).stream()
                .filter(figure -> figure.name().equals("pending"))
                .findFirst()
                .orElseThrow();
    assertThat(pending.value()).isBetween(SIZE * 0.8, SIZE * 1.2);
  }
}
