package io.ordertimeout.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.operator.status.Pause;
import io.ordertimeout.orders.operator.status.Pause.PlacedBy;
import io.ordertimeout.orders.order.PastDueOrders.Total;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PauseReportTest {

  private static final Instant BEGAN = Instant.parse("2026-01-01T10:12:03Z");

  private final PauseReport report = new PauseReport("http://console", ZoneOffset.UTC);

  @Test
  void saysNothingWithoutAPause() {
    assertThat(report.lines(List.of(), Total.NONE)).isEmpty();
  }

  @Test
  void saysWhoPausedExpiryAndWhyAndWhatWaitsForTheEnd() {
    Map<String, BigDecimal> amounts =
        Map.of("EUR", new BigDecimal("1E+3"), "CHF", new BigDecimal("7.50"));

    assertThat(
            report.lines(
                List.of(pause(null, PlacedBy.BREAKER), pause("web", PlacedBy.OPERATOR)),
                new Total(1302, true, amounts, BEGAN)))
        .containsExactly(
            "Expiry was paused by the circuit breaker at 10:12:03: too many. To end the pause, open"
                + " http://console",
            "Expiry of channel web was paused by anna at 10:12:03: too many. To end the pause, open"
                + " http://console",
            "Orders past their deadlines that wait for the end of a pause: 1302 (7.50 CHF, 1000 EUR)");
  }

  @Test
  void saysWhenNotAllOrdersAreCounted() {
    assertThat(
            report.lines(
                List.of(pause(null, PlacedBy.OPERATOR)), new Total(4000, false, Map.of(), BEGAN)))
        .last()
        .isEqualTo("Orders past their deadlines that wait for the end of a pause: at least 4000");
  }

  private static Pause pause(@Nullable String channel, PlacedBy by) {
    return new Pause(7, channel, by, "anna", "too many", false, BEGAN, null, null, null);
  }
}
