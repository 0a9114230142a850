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
 * The steady mix of the contestants without threads, held by JMH as a second opinion on {@link
 * SteadyStateTask}: elapsed time of a batch of pairs, the benchmark's own cost included.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "-Xmx8g")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class SteadyMixBenchmark {

  private static final int PAIRS = 512;

  /** Who is measured. */
  @Param({"WHEEL", "WHEEL_BATCH", "AGRONA", "NO_OP", "NO_OP_BATCH"})
  public Implementation implementation;

  /** The pending timers. */
  @Param({"10000", "1000000"})
  public int pending;

  private PendingOrders book;
  private TimerAdapter measured;

  /** Fills it. */
  @Setup(Level.Trial)
  public void fill() {
    book = new PendingOrders(pending, implementation.batchSize(), 42);
    measured = implementation.start(pending, Implementation.DEFAULT_TICK_MILLIS, id -> {});
    book.fill(measured, new StallMeter());
  }

  /** Replaces 512 orders; the score is that of one. */
  @Benchmark
  @OperationsPerInvocation(PAIRS)
  public long replace() {
    for (int done = 0; done < PAIRS; ) {
      done += book.replace(measured);
    }
    return measured.pending();
  }

  /** Ends it. */
  @TearDown(Level.Trial)
  public void close() {
    measured.close();
  }
}
