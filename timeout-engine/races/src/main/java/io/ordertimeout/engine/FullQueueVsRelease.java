package io.ordertimeout.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.TimeUnit;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Adds to a full queue while the worker makes room. The producer must be released at once. */
@JCStressTest
@Outcome(id = "true, true", expect = ACCEPTABLE, desc = "queued")
@Outcome(expect = FORBIDDEN, desc = "lost, or still blocked although there is room")
@State
public class FullQueueVsRelease {

  private static final TimerChange CHANGE = new TimerChange(0, 1, false, 0);
  private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final CommandQueue commands = new CommandQueue(2);
  private volatile boolean queued;

  public FullQueueVsRelease() {
    commands.put(CHANGE, FullQueueVsRelease::isClosed);
    commands.put(CHANGE, FullQueueVsRelease::isClosed);
  }

  private static boolean isClosed() {
    return false;
  }

  @Actor
  public void queue(ZZ_Result result) {
    result.r1 = commands.put(CHANGE, FullQueueVsRelease::isClosed);
    queued = true;
  }

  @Actor
  public void makeRoom(ZZ_Result result) {
    commands.poll();
    commands.releaseWaiting();
    long start = System.nanoTime();
    while (!queued && System.nanoTime() - start < TIMEOUT_NANOS) {
      Thread.onSpinWait();
    }
    result.r2 = queued;
    // Releases a producer that is still blocked, so that the test ends.
    commands.releaseWaiting();
  }
}
