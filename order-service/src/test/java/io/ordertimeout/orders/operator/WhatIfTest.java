package io.ordertimeout.orders.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.operator.WhatIf.Estimate;
import io.ordertimeout.orders.operator.WhatIf.TimeToPay;
import io.ordertimeout.orders.order.Amount;
import io.ordertimeout.orders.order.Money;
import io.ordertimeout.orders.order.SettledOrderSample.Settled;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class WhatIfTest {

  private static final Instant CREATED = Instant.parse("2026-11-28T12:00:00Z");
  private static final Duration PRESENT = Duration.ofMinutes(15);

  private final List<Settled> orders = new ArrayList<>();

  @Test
  void ordersThatWerePaidLaterThanTheTimeoutWouldBeCancelled() {
    paid(1, 9);
    paid(2, 10);
    paid(3, 11);
    paid(2.5, 14);

    Estimate result = of(10);

    assertThat(result.wouldBeCancelled().orders()).isEqualTo(6);
    assertThat(result.wouldBeCancelled().amounts()).containsExactly(new Money("55.00", "EUR"));
    assertThat(result.paid()).isEqualTo(9);
    assertThat(result.sampled()).isEqualTo(4);
    assertThat(result.presentTimeout()).isEqualTo(PRESENT);
  }

  @Test
  void stockOfCancelledOrdersWouldBeReleasedEarlierOrLater() {
    cancelled(10, null);
    assertThat(of(10).releasedEarlier()).isEqualTo(Duration.ofMinutes(50));
    assertThat(of(20).releasedEarlier()).isEqualTo(Duration.ofMinutes(-50));
    assertThat(of(10).cancelled()).isEqualTo(10);
  }

  @Test
  void cancelledOrdersThatWerePaidAfterwardsWouldBePaidWithALongerTimeout() {
    cancelled(1, 18);
    cancelled(1, 40);

    assertThat(of(20).wouldBePaid().orders()).isEqualTo(1);
    assertThat(of(20).releasedEarlier()).isEqualTo(Duration.ofMinutes(-5));
    assertThat(of(15).wouldBePaid().orders()).isZero();
  }

  @Test
  void timesToPayReachBeyondBothTimeouts() {
    paid(1, 0);
    paid(2, 12);
    paid(4, 60);

    List<TimeToPay> times = of(10).timesToPay();

    assertThat(times).hasSize(15);
    assertThat(times.get(14).upTo()).isEqualTo(Duration.ofSeconds(1_350));
    assertThat(times.get(0).paid()).isEqualTo(1);
    assertThat(times.stream().mapToLong(TimeToPay::paid).sum()).isEqualTo(3);
    assertThat(times.stream().filter(time -> time.paid() == 2))
        .singleElement()
        .satisfies(time -> assertThat(time.upTo()).isBetween(minutes(12), minutes(14)));
    assertThat(of(30).timesToPay().get(14).upTo()).isEqualTo(minutes(45));
  }

  @Test
  void nothingIsKnownWithoutOrders() {
    Estimate result = of(10);
    assertThat(result.presentTimeout()).isNull();
    assertThat(result.orders()).isZero();
    assertThat(result.timesToPay()).allMatch(time -> time.paid() == 0);
  }

  private Estimate of(long timeoutMinutes) {
    return WhatIf.of(CREATED, CREATED.plus(Duration.ofDays(7)), minutes(timeoutMinutes), orders);
  }

  private void paid(double weight, long afterMinutes) {
    add(weight, true, afterMinutes);
  }

  private void cancelled(double weight, @Nullable Integer paidAfterMinutes) {
    add(weight, false, paidAfterMinutes == null ? null : paidAfterMinutes.longValue());
  }

  private void add(double weight, boolean isPaid, @Nullable Long paidAfterMinutes) {
    orders.add(
        new Settled(
            weight,
            isPaid,
            !isPaid,
            CREATED,
            CREATED.plus(PRESENT),
            paidAfterMinutes == null ? null : CREATED.plus(minutes(paidAfterMinutes)),
            new Amount(BigDecimal.TEN, "EUR")));
  }

  private static Duration minutes(long minutes) {
    return Duration.ofMinutes(minutes);
  }
}
