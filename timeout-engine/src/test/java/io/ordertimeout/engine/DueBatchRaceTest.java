package io.ordertimeout.engine;

import org.junit.jupiter.api.Test;

/** Races done() by the consumer against reject() by the worker. */
class DueBatchRaceTest {

  @Test
  void exactlyOneOfDoneAndRejectWins() throws Exception {
    RaceHarness.run(DoneVsReject::new);
  }

  private static final class DoneVsReject implements RaceHarness.Row {

    private int parks;
    private final WakeUpFlag[] wakeUps = new WakeUpFlag[RaceHarness.ROW_SIZE];
    private final DueBatch[] batches = new DueBatch[RaceHarness.ROW_SIZE];
    private final boolean[] rejected = new boolean[RaceHarness.ROW_SIZE];

    DoneVsReject() {
      for (int i = 0; i < RaceHarness.ROW_SIZE; i++) {
        wakeUps[i] = new WakeUpFlag(nanos -> parks++);
        batches[i] = new DueBatch(i, new long[] {i}, new long[] {i}, wakeUps[i]);
      }
    }

    @Override
    public void left(int i) {
      batches[i].done();
    }

    @Override
    public void right(int i) {
      rejected[i] = batches[i].reject();
    }

    @Override
    public void check(int i) {
      int before = parks;
      wakeUps[i].parkUnlessRaised(1);
      // A done() that wins raises the flag.
      boolean done = parks == before;
      if (done == rejected[i] || !isRejectedAsReturned(i) || batches[i].isOpen()) {
        throw new AssertionError(
            "done won: " + done + ", reject won: " + rejected[i] + ": " + batches[i]);
      }
      batches[i].done();
      if (!isRejectedAsReturned(i)) {
        throw new AssertionError("changed by a late done(): " + batches[i]);
      }
    }

    private boolean isRejectedAsReturned(int i) {
      return batches[i].isRejected() == rejected[i];
    }
  }
}
