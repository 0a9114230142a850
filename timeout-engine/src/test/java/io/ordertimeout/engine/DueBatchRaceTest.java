package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Either the consumer is done with a batch or the worker takes it back, never both. */
class DueBatchRaceTest {

  @Test
  void exactlyOneOfDoneAndRefuseWins() throws Exception {
    Race.run(Duration.ofSeconds(3), DoneAgainstRefuse::new);
  }

  private static final class DoneAgainstRefuse implements Race.Row {

    private final AtomicInteger parks = new AtomicInteger();
    private final WakeUp[] wakeUps = new WakeUp[Race.ROW];
    private final DueBatch[] batches = new DueBatch[Race.ROW];
    private final boolean[] refused = new boolean[Race.ROW];

    DoneAgainstRefuse() {
      for (int i = 0; i < Race.ROW; i++) {
        wakeUps[i] = new WakeUp(nanos -> parks.incrementAndGet());
        batches[i] = new DueBatch(i, new long[] {i}, new long[] {i}, wakeUps[i]);
      }
    }

    @Override
    public void left(int i) {
      batches[i].done();
    }

    @Override
    public void right(int i) {
      refused[i] = batches[i].refuse();
    }

    @Override
    public void check(int i) {
      int before = parks.get();
      wakeUps[i].await(1);
      // What done() wins, it tells the worker.
      boolean done = parks.get() == before;
      assertThat(done).as("done, where refused is %s", refused[i]).isEqualTo(!refused[i]);
      assertThat(batches[i].isRefused()).isEqualTo(refused[i]);
      assertThat(batches[i].isOpen()).isFalse();
      batches[i].done();
      assertThat(batches[i].isRefused()).isEqualTo(refused[i]);
    }
  }
}
