package io.ordertimeout.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Schedules and cancels the same timer from two threads. The result must match one of the two
 * orders.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "rescheduled, then cancelled")
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "cancelled, then armed again")
@Outcome(expect = FORBIDDEN, desc = "armed twice, or delivered early")
@State
public class ScheduleVsCancel {

  private final RaceFixture fixture = new RaceFixture();

  @Actor
  public void schedule() {
    fixture.timers.schedule(RaceFixture.SHARD, RaceFixture.ID, 1_000);
  }

  @Actor
  public void cancel() {
    fixture.timers.cancel(RaceFixture.SHARD, RaceFixture.ID);
  }

  @Arbiter
  public void settle(II_Result result) {
    result.r2 = fixture.stop();
    result.r1 = fixture.delivered();
  }
}
