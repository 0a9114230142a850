package io.ordertimeout.benchmarks;

import java.util.List;

/**
 * Simulates whole lifecycles of orders, see {@link OrderStream}: one timeout to reach the steady
 * state, then at least one more to measure it.
 */
final class OrderLifecycleTask implements BenchmarkTask {

  /**
   * With few pending orders, the measurement is prolonged until this number of orders was
   * scheduled.
   */
  private static final long MIN_ORDERS = 2_000_000;

  private static final long MIN_ORDERS_QUICK = 200_000;

  private final long stepMillis;

  OrderLifecycleTask(long stepMillis) {
    this.stepMillis = stepMillis;
  }

  @Override
  public List<Figure> run(Implementation implementation, int size, Effort effort) {
    long[] expired = new long[1];
    try (TimerAdapter timers = implementation.start(size, stepMillis, id -> expired[0]++)) {
      OrderStream stream = new OrderStream(size, stepMillis, implementation.batchSize(), timers);
      stream.run(OrderStream.TIMEOUT_MILLIS + stepMillis, new LatencyHistogram());

      LatencyHistogram turns = new LatencyHistogram();
      Sample sample = new Sample();
      long least = effort.equals(Effort.QUICK) ? MIN_ORDERS_QUICK : MIN_ORDERS;
      long perTimeout = stream.scheduled();
      long millis =
          Math.max(OrderStream.TIMEOUT_MILLIS, OrderStream.TIMEOUT_MILLIS * least / perTimeout);
      for (int i = 0; i < effort.iterations(); i++) {
        long before = stream.scheduled();
        long cpu = ProcessCpu.nanos();
        stream.run(millis / effort.iterations(), turns);
        sample.add((double) (ProcessCpu.nanos() - cpu) / (stream.scheduled() - before));
      }
      if (implementation.baseline() != implementation) {
        check(stream, timers, expired[0]);
      }
      return List.of(
          Figure.of("order-ns", sample),
          Figure.of("pending", (double) timers.pending()),
          Figure.of("turn-p50-us", turns.micros(0.5)),
          Figure.of("turn-p99-us", turns.micros(0.99)),
          Figure.of("turn-p99.99-us", turns.micros(0.9999)),
          Figure.of("turn-max-us", turns.maxMicros()));
    }
  }

  /** Checks that every order was cancelled, has expired or is pending. */
  private static void check(OrderStream stream, TimerAdapter timers, long expired) {
    long found = stream.cancelled() + expired + timers.pending();
    if (found != stream.scheduled()) {
      throw new IllegalStateException(
          "scheduled " + stream.scheduled() + " orders but accounted for " + found);
    }
  }
}
