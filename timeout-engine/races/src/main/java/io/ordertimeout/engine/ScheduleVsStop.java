package io.ordertimeout.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Schedules a timer during a stop. It must be returned by the stop, or the caller must get an
 * exception.
 */
@JCStressTest
@Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "armed, and returned by stop")
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "rejected")
@Outcome(id = "0, 2", expect = ACCEPTABLE, desc = "rejected although it took effect, as documented")
@Outcome(expect = FORBIDDEN, desc = "lost without an exception")
@State
public class ScheduleVsStop {

  private final RaceFixture fixture = new RaceFixture();

  @Actor
  public void schedule(II_Result result) {
    try {
      fixture.timers.schedule(RaceFixture.SHARD, RaceFixture.ID + 1, 1_000);
      result.r1 = 1;
    } catch (IllegalStateException stopped) {
      result.r1 = 0;
    }
  }

  @Actor
  public void stop(II_Result result) {
    result.r2 = fixture.stop();
  }
}
