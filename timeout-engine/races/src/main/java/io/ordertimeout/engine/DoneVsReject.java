package io.ordertimeout.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Completes a batch while its listener throws. Exactly one of the two must win. */
@JCStressTest
@Outcome(id = "true, true", expect = ACCEPTABLE, desc = "rejected first")
@Outcome(id = "false, false", expect = ACCEPTABLE, desc = "done first")
@Outcome(expect = FORBIDDEN, desc = "both or neither")
@State
public class DoneVsReject {

  private final DueBatch batch =
      new DueBatch(0, new long[1], new long[1], new WakeUpFlag(ParkStrategy::parkCurrentThread));

  @Actor
  public void done() {
    batch.done();
  }

  @Actor
  public void reject(ZZ_Result result) {
    result.r1 = batch.reject();
  }

  @Arbiter
  public void see(ZZ_Result result) {
    result.r2 = batch.isRejected();
  }
}
