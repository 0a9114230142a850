package io.ordertimeout.benchmarks;

/** An implementation that does nothing, which measures the cost of the benchmark itself. */
final class NoOpAdapter implements TimerAdapter {

  private long pending;

  /** Keeps the compiler from eliminating the filling of the batches. */
  private long sum;

  @Override
  public void schedule(OrderBatch batch) {
    for (int i = 0; i < batch.count(); i++) {
      sum += batch.ids[i] ^ batch.deadlinesMillis[i];
    }
    pending += batch.count();
  }

  @Override
  public void cancel(OrderBatch batch) {
    for (int i = 0; i < batch.count(); i++) {
      sum -= batch.ids[i];
    }
    pending -= batch.count();
  }

  @Override
  public boolean advance(long nowMillis, int limit) {
    return false;
  }

  @Override
  public long pending() {
    return sum == 0 ? Math.max(pending, 0) : pending;
  }
}
