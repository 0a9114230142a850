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
 * Reschedules a timer while it becomes due. It must be armed in the end, whether it was delivered
 * or not.
 */
@JCStressTest
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "rescheduled first")
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "delivered first, then armed again")
@Outcome(expect = FORBIDDEN, desc = "lost, or delivered twice")
@State
public class RescheduleVsExpiry {

  private final RaceFixture fixture = new RaceFixture();

  @Actor
  public void reschedule() {
    fixture.timers.schedule(RaceFixture.SHARD, RaceFixture.ID, 1_000);
  }

  @Actor
  public void expire() {
    fixture.reachDeadline();
  }

  @Arbiter
  public void settle(II_Result result) {
    result.r2 = fixture.stop();
    result.r1 = fixture.delivered();
  }
}
