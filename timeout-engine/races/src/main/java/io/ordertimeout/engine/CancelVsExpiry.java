package io.ordertimeout.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Cancels a timer while it becomes due. It must be delivered at most once and not stay armed. */
@JCStressTest
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "cancelled first")
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "delivered first")
@Outcome(expect = FORBIDDEN, desc = "delivered twice, or still armed")
@State
public class CancelVsExpiry {

  private final RaceFixture fixture = new RaceFixture();

  @Actor
  public void cancel() {
    fixture.timers.cancel(RaceFixture.SHARD, RaceFixture.ID);
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
