package io.ordertimeout.benchmarks;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The steady mix of the single-threaded implementations under JMH, as a cross-check of {@link
 * SteadyStateTask}. It measures the elapsed time of a batch of pairs, including the benchmark's own
 * cost.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "-Xmx8g")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class SteadyMixBenchmark {

  private static final int PAIRS = 512;

  /** The implementation to measure. */
  @Param({"WHEEL", "WHEEL_BATCH", "AGRONA", "NO_OP", "NO_OP_BATCH"})
  public Implementation implementation;

  /** The number of pending timers. */
  @Param({"10000", "1000000"})
  public int pending;

  private PendingOrders book;
  private TimerAdapter measured;

  /** Fills the timers. */
  @Setup(Level.Trial)
  public void fill() {
    book = new PendingOrders(pending, implementation.batchSize(), 42);
    measured = implementation.start(pending, Implementation.DEFAULT_TICK_MILLIS, id -> {});
    book.fill(measured, new StallMeter());
  }

  /** Replaces 512 orders. The score is the time per order. */
  @Benchmark
  @OperationsPerInvocation(PAIRS)
  public long replace() {
    for (int done = 0; done < PAIRS; ) {
      done += book.replace(measured);
    }
    return measured.pending();
  }

  /** Stops the implementation. */
  @TearDown(Level.Trial)
  public void close() {
    measured.close();
  }
}
