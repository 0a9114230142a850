package io.ordertimeout.orders.benchmarks.traffic;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Traffic whose times are fixed in advance: orders arrive at random (a Poisson process), and their
 * deadlines follow from the planned arrivals. A contender or a machine that falls behind does not
 * slow it down, so nothing late is left out of the figures (Tene's "coordinated omission").
 *
 * @param ordersPerSecond the mean rate of arrivals
 * @param paidShare the share of orders that are paid, half-way to their deadlines
 * @param timeout the time from the arrival to the deadline
 * @param duration how long orders arrive
 */
public record OpenLoop(
    double ordersPerSecond, double paidShare, Duration timeout, Duration duration) {

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** An order that will be paid. */
  private record Payment(long number, long atMillis) {}

  /** An upper bound of the number of orders: more would be a chance of one in a million. */
  public int atMostOrders() {
    double mean = ordersPerSecond * duration.toMillis() / 1e3;
    return (int) (mean + 5 * Math.sqrt(mean) + 10);
  }

  /** Sends all events at their times; returns when the last one is stored. */
  public void run(Customers customers, Random random) {
    Queue<Payment> payments = new ArrayDeque<>();
    double begin = System.currentTimeMillis();
    double end = begin + duration.toMillis();
    double next = begin;
    int left = atMostOrders();
    while ((next < end && left > 0) || !payments.isEmpty()) {
      long now = System.currentTimeMillis();
      while (next < end && next <= now && left > 0) {
        long number = customers.create((long) next + timeout.toMillis());
        left--;
        if (random.nextDouble() < paidShare) {
          payments.add(new Payment(number, (long) next + timeout.toMillis() / 2));
        }
        next -= Math.log(1 - random.nextDouble()) * 1e3 / ordersPerSecond;
      }
      for (Payment due = payments.peek(); due != null && due.atMillis() <= now; ) {
        payments.remove();
        customers.pay(due.number());
        due = payments.peek();
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    customers.flush();
  }
}
