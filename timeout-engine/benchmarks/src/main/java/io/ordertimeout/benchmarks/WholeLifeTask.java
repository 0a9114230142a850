package io.ordertimeout.benchmarks;

import java.util.List;

/**
 * Whole lives of orders in simulated time: see {@link OrderStream}. One timeout long to get to the
 * steady state, then measured for another.
 */
final class WholeLifeTask implements Task {

  /** At few pending an order's life is repeated until there is something to measure. */
  private static final long LEAST_ORDERS = 2_000_000;

  private static final long LEAST_ORDERS_QUICK = 200_000;

  private final long stepMillis;

  WholeLifeTask(long stepMillis) {
    this.stepMillis = stepMillis;
  }

  @Override
  public List<Figure> run(ContestantKind kind, int size, Effort effort) {
    long[] expired = new long[1];
    try (Contestant contestant = kind.start(size, stepMillis, id -> expired[0]++)) {
      OrderStream stream = new OrderStream(size, stepMillis, kind.batchSize(), contestant);
      stream.run(OrderStream.TIMEOUT_MILLIS + stepMillis, new Latencies());

      Latencies turns = new Latencies();
      Sample sample = new Sample();
      long least = effort.equals(Effort.QUICK) ? LEAST_ORDERS_QUICK : LEAST_ORDERS;
      long perTimeout = stream.scheduled();
      long millis =
          Math.max(OrderStream.TIMEOUT_MILLIS, OrderStream.TIMEOUT_MILLIS * least / perTimeout);
      for (int i = 0; i < effort.iterations(); i++) {
        long before = stream.scheduled();
        long cpu = ProcessCpu.nanos();
        stream.run(millis / effort.iterations(), turns);
        sample.add((double) (ProcessCpu.nanos() - cpu) / (stream.scheduled() - before));
      }
      if (kind.baseline() != kind) {
        check(stream, contestant, expired[0]);
      }
      return List.of(
          Figure.of("order-ns", sample),
          Figure.of("pending", (double) contestant.pending()),
          Figure.of("turn-p50-us", turns.micros(0.5)),
          Figure.of("turn-p99-us", turns.micros(0.99)),
          Figure.of("turn-p99.99-us", turns.micros(0.9999)),
          Figure.of("turn-max-us", turns.maxMicros()));
    }
  }

  /** Every order is cancelled, expired or pending. */
  private static void check(OrderStream stream, Contestant contestant, long expired) {
    long found = stream.cancelled() + expired + contestant.pending();
    if (found != stream.scheduled()) {
      throw new IllegalStateException(
          "scheduled " + stream.scheduled() + " orders, but found " + found);
    }
  }
}
