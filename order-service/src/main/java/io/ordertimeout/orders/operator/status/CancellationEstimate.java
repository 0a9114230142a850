package io.ordertimeout.orders.operator.status;

import io.ordertimeout.orders.order.CancellationShares;
import io.ordertimeout.orders.order.CancellationShares.Share;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.springframework.stereotype.Component;

/**
 * Estimates how many of the due orders will be cancelled, by how the orders ended whose deadlines
 * passed within the last hour. The shares are measured again at most every ten seconds, and only
 * while somebody asks. Thread-safe.
 */
@Component
class CancellationEstimate {

  /** With fewer orders, the share of an interval is not known. */
  static final int FEWEST_ORDERS = 30;

  private static final Duration MAX_AGE = Duration.ofSeconds(10);

  private static final List<Duration> BOUNDS =
      InstanceReport.WINDOWS.stream().map(Duration::ofMinutes).toList();

  private final CancellationShares shares;
  private List<Share> measured = List.of();
  private long measuredNanos;

  CancellationEstimate(CancellationShares shares) {
    this.shares = shares;
  }

  /** The shares of the windows' intervals: within 1, 1 to 5, 5 to 15, 15 to 60 minutes. */
  synchronized List<Share> shares() {
    long now = System.nanoTime();
    if (measured.isEmpty() || now - measuredNanos > MAX_AGE.toNanos()) {
      measured = shares.measure(BOUNDS);
      measuredNanos = now;
    }
    return measured;
  }

  /**
   * Estimates the cancellations within a window.
   *
   * @param due the orders that come due within each of the windows and that nothing suspends, at
   *     least up to the wanted window
   * @param window the number of the window
   * @return empty if too few orders are known by which to estimate
   */
  static Optional<DueTotal> expected(List<DueTotal> due, int window, List<Share> shares) {
    double orders = 0;
    Map<String, BigDecimal> amounts = new TreeMap<>();
    for (int i = 0; i <= window; i++) {
      DueTotal more = i == 0 ? due.get(0) : due.get(i).minus(due.get(i - 1));
      if (more.orders() == 0) {
        continue;
      }
      Double share = shares.get(i).cancelled();
      if (share == null || shares.get(i).orders() < FEWEST_ORDERS) {
        return Optional.empty();
      }
      orders += more.orders() * share;
      more.amounts()
          .forEach(
              (currency, amount) ->
                  amounts.merge(
                      currency,
                      amount
                          .multiply(BigDecimal.valueOf(share))
                          .setScale(amount.scale(), RoundingMode.HALF_EVEN),
                      BigDecimal::add));
    }
    return Optional.of(new DueTotal(Math.round(orders), amounts));
  }
}
