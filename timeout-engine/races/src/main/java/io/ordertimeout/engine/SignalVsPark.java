package io.ordertimeout.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicBoolean;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * Queues a command while the worker looks for commands for the last time before parking. The worker
 * must see it or stay awake.
 */
@JCStressTest
@Outcome(id = "true, false", expect = ACCEPTABLE, desc = "seen, and the worker checks again")
@Outcome(id = "true, true", expect = ACCEPTABLE, desc = "seen")
@Outcome(id = "false, false", expect = ACCEPTABLE, desc = "not seen, and the worker stays awake")
@Outcome(expect = FORBIDDEN, desc = "parked with an unseen command")
@State
public class SignalVsPark {

  private final AtomicBoolean command = new AtomicBoolean();
  private final WakeUpFlag wakeUp = new WakeUpFlag(nanos -> parked = true);
  private boolean parked;

  public SignalVsPark() {
    wakeUp.raise();
  }

  @Actor
  public void signal() {
    command.setRelease(true);
    wakeUp.raise();
  }

  @Actor
  public void look(ZZ_Result result) {
    wakeUp.clear();
    result.r1 = command.getAcquire();
  }

  @Arbiter
  public void park(ZZ_Result result) {
    wakeUp.parkUnlessRaised(1);
    result.r2 = parked;
  }
}
