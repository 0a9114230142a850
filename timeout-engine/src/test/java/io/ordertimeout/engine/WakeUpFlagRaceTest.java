package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Races a producer that publishes and raises against a worker that clears and looks. */
class WakeUpFlagRaceTest {

  @Test
  void unseenWorkLeavesTheFlagRaised() throws Exception {
    RaceHarness.run(PublishVsLook::new);
  }

  /** Most flags are raised beforehand, the harder case: the producer may rely on that. */
  private static final class PublishVsLook implements RaceHarness.Row {

    private int parks;
    private final AtomicInteger[] work = new AtomicInteger[RaceHarness.ROW_SIZE];
    private final WakeUpFlag[] wakeUps = new WakeUpFlag[RaceHarness.ROW_SIZE];
    private final boolean[] seen = new boolean[RaceHarness.ROW_SIZE];

    PublishVsLook() {
      for (int i = 0; i < RaceHarness.ROW_SIZE; i++) {
        work[i] = new AtomicInteger();
        wakeUps[i] = new WakeUpFlag(nanos -> parks++);
        if (i % 4 != 0) {
          wakeUps[i].raise();
        }
      }
    }

    @Override
    public void left(int i) {
      // Like the command queue: an ordered store without a fence.
      work[i].setRelease(1);
      wakeUps[i].raise();
    }

    @Override
    public void right(int i) {
      wakeUps[i].clear();
      seen[i] = work[i].getAcquire() == 1;
    }

    @Override
    public void check(int i) {
      int before = parks;
      wakeUps[i].parkUnlessRaised(1);
      boolean parked = parks > before;
      if (parked && !seen[i]) {
        throw new AssertionError("parked with unseen work at " + i);
      }
    }
  }

  /**
   * Publishes the next item as soon as the worker has seen the last one, just when the worker is
   * about to park or has parked. A lost wake-up leaves both threads parked and exceeds the default
   * time limit of tests; a busy machine does not.
   */
  @Test
  void wakesAParkedWorker() throws InterruptedException {
    int rounds = 20_000;
    WakeUpFlag wakeUp = new WakeUpFlag(ParkStrategy::parkCurrentThread);
    AtomicInteger published = new AtomicInteger();
    AtomicInteger seen = new AtomicInteger();
    Thread publisher =
        new Thread(
            () -> {
              for (int i = 1; i <= rounds; i++) {
                published.setRelease(i);
                wakeUp.raise();
                awaitSeen(seen, i);
              }
            });
    Thread worker =
        new Thread(
            () -> {
              while (seen.get() < rounds) {
                wakeUp.clear();
                seen.set(published.getAcquire());
                LockSupport.unpark(publisher);
                if (seen.get() < rounds) {
                  wakeUp.parkUnlessRaised(Long.MAX_VALUE);
                }
              }
            });
    worker.setDaemon(true);
    publisher.setDaemon(true);
    wakeUp.setWorker(worker);
    worker.start();
    publisher.start();

    publisher.join();
    worker.join();
    assertThat(seen).hasValue(rounds);
  }

  /**
   * Spins briefly to hit the moment of parking, then parks to leave the processor to the worker.
   */
  private static void awaitSeen(AtomicInteger seen, int expected) {
    for (int spins = 0; seen.get() < expected; spins++) {
      if (spins < 200) {
        Thread.onSpinWait();
      } else {
        LockSupport.park();
      }
    }
  }
}
