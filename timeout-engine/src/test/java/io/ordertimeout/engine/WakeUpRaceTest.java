package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** No news is slept over, however publish-and-raise meets lower-and-look. */
class WakeUpRaceTest {

  @Test
  void newsThatTheWorkerDidNotSeeLeavesTheFlagRaised() throws Exception {
    Race.run(Duration.ofSeconds(4), NewsAgainstLook::new);
  }

  /** A flag that was raised before is the harder case: whoever has news may rely on it. */
  private static final class NewsAgainstLook implements Race.Row {

    private final AtomicInteger parks = new AtomicInteger();
    private final AtomicInteger[] news = new AtomicInteger[Race.ROW];
    private final WakeUp[] wakeUps = new WakeUp[Race.ROW];
    private final boolean[] seen = new boolean[Race.ROW];

    NewsAgainstLook() {
      for (int i = 0; i < Race.ROW; i++) {
        news[i] = new AtomicInteger();
        wakeUps[i] = new WakeUp(nanos -> parks.incrementAndGet());
        if (i % 4 != 0) {
          wakeUps[i].raise();
        }
      }
    }

    @Override
    public void left(int i) {
      // As the command queue publishes: ordered, but no fence.
      news[i].setRelease(1);
      wakeUps[i].raise();
    }

    @Override
    public void right(int i) {
      wakeUps[i].lower();
      seen[i] = news[i].getAcquire() == 1;
    }

    @Override
    public void check(int i) {
      int before = parks.get();
      wakeUps[i].await(1);
      boolean wouldPark = parks.get() > before;
      if (wouldPark) {
        assertThat(seen[i]).as("news seen before parking").isTrue();
      }
    }
  }

  @Test
  void aParkedWorkerIsWoken() throws InterruptedException {
    int rounds = 50_000;
    WakeUp wakeUp = new WakeUp(Parking::untilUnparked);
    AtomicInteger news = new AtomicInteger();
    AtomicInteger seen = new AtomicInteger();
    CountDownLatch allSeen = new CountDownLatch(1);
    Thread worker =
        new Thread(
            () -> {
              while (seen.get() < rounds) {
                wakeUp.lower();
                seen.set(news.get());
                wakeUp.await(Long.MAX_VALUE);
              }
              allSeen.countDown();
            });
    worker.setDaemon(true);
    wakeUp.wakes(worker);
    worker.start();
    Thread publisher =
        new Thread(
            () -> {
              for (int i = 1; i <= rounds; i++) {
                news.setRelease(i);
                wakeUp.raise();
                // The worker is about to park, or has parked, when the next news comes.
                while (seen.get() < i) {
                  Thread.onSpinWait();
                }
              }
              wakeUp.raise();
            });
    publisher.setDaemon(true);
    publisher.start();
    assertThat(allSeen.await(30, TimeUnit.SECONDS))
        .as("all of %s seen; last seen: %s", rounds, seen)
        .isTrue();
  }
}
