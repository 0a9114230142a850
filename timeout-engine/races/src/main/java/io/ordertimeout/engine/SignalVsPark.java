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
 * A command is queued while the worker looks for commands the last time: it sees it or stays awake.
 */
@JCStressTest
@Outcome(id = "true, false", expect = ACCEPTABLE, desc = "seen, and looks once more")
@Outcome(id = "true, true", expect = ACCEPTABLE, desc = "seen")
@Outcome(id = "false, false", expect = ACCEPTABLE, desc = "not seen, stays awake")
@Outcome(expect = FORBIDDEN, desc = "slept over")
@State
public class SignalVsPark {

  private final AtomicBoolean news = new AtomicBoolean();
  private final WakeUpFlag wakeUp = new WakeUpFlag(nanos -> parked = true);
  private boolean parked;

  public SignalVsPark() {
    wakeUp.raise();
  }

  @Actor
  public void tell() {
    news.setRelease(true);
    wakeUp.raise();
  }

  @Actor
  public void look(ZZ_Result result) {
    wakeUp.clear();
    result.r1 = news.getAcquire();
  }

  @Arbiter
  public void park(ZZ_Result result) {
    wakeUp.parkUnlessRaised(1);
    result.r2 = parked;
  }
}
