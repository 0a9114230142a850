package io.ordertimeout.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/** A caller finds the queue full while the worker makes room: it is let go, or this never ends. */
@JCStressTest
@Outcome(id = "true", expect = ACCEPTABLE, desc = "queued")
@Outcome(expect = FORBIDDEN, desc = "lost")
@State
public class FullQueueAgainstRelease {

  private static final TimerChange CHANGE = new TimerChange(0, 1, false, 0);

  private final CommandQueue commands = new CommandQueue(2);

  public FullQueueAgainstRelease() {
    commands.put(CHANGE, FullQueueAgainstRelease::isClosed);
    commands.put(CHANGE, FullQueueAgainstRelease::isClosed);
  }

  private static boolean isClosed() {
    return false;
  }

  @Actor
  public void queue(Z_Result result) {
    result.r1 = commands.put(CHANGE, FullQueueAgainstRelease::isClosed);
  }

  @Actor
  public void makeRoom() {
    commands.poll();
    commands.releaseWaiting();
  }
}
