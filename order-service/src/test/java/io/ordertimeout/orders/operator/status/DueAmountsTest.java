package io.ordertimeout.orders.operator.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.order.PendingOrderStatistics.DueAmount;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DueAmountsTest {

  private final List<Long> due = new ArrayList<>(Collections.nCopies(InstanceReport.MINUTES, 0L));

  @Test
  void amountsOfAllOrdersAreExact() {
    due.set(3, 1_000L);

    Map<String, List<BigDecimal>> amounts =
        DueAmounts.byMinute(
            List.of(
                new DueAmount(3, false, false, "web", "EUR", new BigDecimal("12.50"), 2),
                new DueAmount(3, false, false, "web", "USD", new BigDecimal("7.00"), 1),
                new DueAmount(3, false, false, "web", null, BigDecimal.ZERO, 5)),
            due);

    assertThat(amounts.getOrDefault("EUR", List.of()).get(3)).isEqualByComparingTo("12.50");
    assertThat(amounts.getOrDefault("USD", List.of()).get(3)).isEqualByComparingTo("7.00");
    assertThat(amounts).hasSize(2);
  }

  @Test
  void samplesAreExtrapolatedToTheOrdersThatAreNotSummedUpExactly() {
    due.set(3, 1_010L);

    Map<String, List<BigDecimal>> amounts =
        DueAmounts.byMinute(
            List.of(
                new DueAmount(3, false, false, "web", "EUR", new BigDecimal("5.00"), 10),
                new DueAmount(3, true, false, "web", "EUR", new BigDecimal("20.00"), 150),
                new DueAmount(3, true, false, "web", null, BigDecimal.ZERO, 50)),
            due);

    // 1,000 orders like the sample of 200.
    assertThat(amounts.getOrDefault("EUR", List.of()).get(3)).isEqualByComparingTo("105.00");
  }

  @Test
  void aSampleIsNoLessThanItsOwnOrders() {
    due.set(3, 150L);

    Map<String, List<BigDecimal>> amounts =
        DueAmounts.byMinute(
            List.of(new DueAmount(3, true, false, "web", "EUR", new BigDecimal("20.00"), 200)),
            due);

    assertThat(amounts.getOrDefault("EUR", List.of()).get(3)).isEqualByComparingTo("20.00");
  }
}
