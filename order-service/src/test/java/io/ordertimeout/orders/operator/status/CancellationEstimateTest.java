package io.ordertimeout.orders.operator.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.order.CancellationShares.Share;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CancellationEstimateTest {

  private static final List<Share> SHARES =
      List.of(
          new Share(500, 0.8),
          new Share(500, 0.4),
          new Share(CancellationEstimate.FEWEST_ORDERS - 1, 0.1),
          new Share(0, null));

  @Test
  void eachIntervalHasItsOwnShare() {
    List<DueTotal> due = List.of(due(10, "100.00"), due(110, "1100.00"), due(110, "1100.00"));

    assertThat(CancellationEstimate.expected(due, 0, SHARES))
        .contains(new DueTotal(8, Map.of("EUR", new BigDecimal("80.00"))));
    assertThat(CancellationEstimate.expected(due, 1, SHARES))
        .contains(new DueTotal(48, Map.of("EUR", new BigDecimal("480.00"))));
    // Nothing comes due in the interval whose share is not known.
    assertThat(CancellationEstimate.expected(due, 2, SHARES))
        .contains(new DueTotal(48, Map.of("EUR", new BigDecimal("480.00"))));
  }

  @Test
  void nothingIsExpectedByFewOrNoOrders() {
    List<DueTotal> due = List.of(due(1, "1"), due(1, "1"), due(2, "2"), due(2, "2"));

    assertThat(CancellationEstimate.expected(due, 1, SHARES)).isPresent();
    assertThat(CancellationEstimate.expected(due, 2, SHARES)).isEmpty();
    assertThat(CancellationEstimate.expected(List.of(due(0, "0")), 0, SHARES))
        .contains(new DueTotal(0, Map.of()));
  }

  private static DueTotal due(long orders, String amount) {
    return new DueTotal(orders, Map.of("EUR", new BigDecimal(amount)));
  }
}
