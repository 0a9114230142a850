package io.ordertimeout.orders.operator.status;

import io.ordertimeout.orders.shard.Shards;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;

/** The numbers of orders of the owned shards that come due within the next hour. */
final class DueOrders {

  private static final Duration[] MINUTES =
      IntStream.rangeClosed(1, InstanceReport.MINUTES)
          .mapToObj(Duration::ofMinutes)
          .toArray(Duration[]::new);

  private DueOrders() {}

  /** Estimates the numbers from the wheels, by minute. */
  static List<Long> byMinute(Shards shards) throws InterruptedException {
    long[] within;
    try {
      within = shards.dueWithin(MINUTES).get();
    } catch (ExecutionException e) {
      throw new IllegalStateException("the wheels did not answer", e.getCause());
    }
    List<Long> byMinute = new ArrayList<>(within.length);
    long before = 0;
    for (long due : within) {
      byMinute.add(Math.max(0, due - before));
      before = due;
    }
    return byMinute;
  }
}
