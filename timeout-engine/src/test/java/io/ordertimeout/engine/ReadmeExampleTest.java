package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;

/** Runs the example of the README. */
class ReadmeExampleTest {

  private final LinkedBlockingQueue<Long> cancelled = new LinkedBlockingQueue<>();

  @Test
  void shardedTimersExampleWorks() throws InterruptedException {
    ExecutorService executor = Executors.newSingleThreadExecutor();
    DueListener listener =
        DueListener.on(
            executor,
            batch -> {
              for (long id : batch.ids()) {
                cancelUnpaidOrder(id);
              }
            });
    try (ShardedTimers timers =
        new ShardedTimers(
            TimersConfig.defaults("order-wheel"), System::currentTimeMillis, listener)) {
      timers.open(0);
      timers.schedule(0, 42, System.currentTimeMillis() + 5);
      timers.schedule(0, 43, System.currentTimeMillis() + 900_000);
      timers.cancel(0, 43);

      assertThat(cancelled.take()).isEqualTo(42);
    } finally {
      executor.shutdown();
    }
  }

  private void cancelUnpaidOrder(long id) {
    cancelled.add(id);
  }
}
