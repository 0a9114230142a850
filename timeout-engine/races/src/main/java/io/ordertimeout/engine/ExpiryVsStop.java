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
 * Makes a timer due during a stop. It must be either delivered or returned, never both or neither.
 */
@JCStressTest
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "returned by stop")
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "delivered")
@Outcome(expect = FORBIDDEN, desc = "lost, or both delivered and returned")
@State
public class ExpiryVsStop {

  private final RaceFixture fixture = new RaceFixture();

  @Actor
  public void expire() {
    fixture.reachDeadline();
  }

  @Actor
  public void stop(II_Result result) {
    result.r2 = fixture.stop();
  }

  @Arbiter
  public void count(II_Result result) {
    result.r1 = fixture.delivered();
  }
}
