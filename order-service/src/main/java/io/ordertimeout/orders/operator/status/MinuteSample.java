package io.ordertimeout.orders.operator.status;

import io.ordertimeout.orders.order.PendingOrderStatistics.DueAmount;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;

/**
 * How far the orders that were read of one minute stand for all that come due in it.
 *
 * @param complete how many orders were read of shards whose orders were read completely
 * @param sampled how many orders were read of the other shards
 * @param due how many orders come due in the minute, as the wheels know
 */
record MinuteSample(long complete, long sampled, long due) {

  static MinuteSample of(int minute, List<DueAmount> read, long due) {
    long complete = 0;
    long sampled = 0;
    for (DueAmount amount : read) {
      if (amount.minute() == minute) {
        complete += amount.sampled() ? 0 : amount.orders();
        sampled += amount.sampled() ? amount.orders() : 0;
      }
    }
    return new MinuteSample(complete, sampled, due);
  }

  /** Returns what all orders amount to for which those of the sum stand. */
  BigDecimal amount(DueAmount sum) {
    return represents(sum)
        ? sum.amount()
            .multiply(BigDecimal.valueOf(due - complete))
            .divide(BigDecimal.valueOf(sampled), sum.amount().scale(), RoundingMode.HALF_EVEN)
        : sum.amount();
  }

  /** Returns how many orders those of the sum stand for. */
  long orders(DueAmount sum) {
    return represents(sum)
        ? Math.round((double) sum.orders() * (due - complete) / sampled)
        : sum.orders();
  }

  private boolean represents(DueAmount sum) {
    return sum.sampled() && due - complete > sampled;
  }
}
