package io.ordertimeout.orders.operator.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.operator.status.InstanceReport.ChannelReport;
import io.ordertimeout.orders.order.PendingOrderStatistics.DueAmount;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DueByChannelTest {

  private final List<Long> due = new ArrayList<>(Collections.nCopies(InstanceReport.MINUTES, 0L));

  @Test
  void windowsIncludeTheShorterOnes() {
    List<ChannelReport> channels =
        DueByChannel.of(
            List.of(read(0, false, "web", 2), read(4, false, "web", 3), read(59, false, "web", 5)),
            due,
            Set.of());

    assertThat(channels).hasSize(1);
    assertThat(channels.get(0).orders()).containsExactly(2L, 5L, 5L, 10L);
    assertThat(channels.get(0).amounts().getOrDefault("EUR", List.of()))
        .containsExactly(
            new BigDecimal("20"),
            new BigDecimal("50"),
            new BigDecimal("50"),
            new BigDecimal("100"));
  }

  @Test
  void ordersOfHeldShardsAndOrdersWithoutAChannelAreToldApart() {
    List<ChannelReport> channels =
        DueByChannel.of(
            List.of(
                read(0, false, null, 2),
                held(0, "web", 3),
                held(0, "store", 4),
                read(0, false, "web", 5)),
            due,
            Set.of());

    assertThat(channels)
        .extracting(c -> c.held() + " " + c.channel() + " " + c.orders().get(0))
        .containsExactly("true null 7", "false web 5", "false null 2");
  }

  @Test
  void samplesStandForAllOrders() {
    due.set(3, 1_010L);

    List<ChannelReport> channels =
        DueByChannel.of(
            List.of(
                read(3, false, "web", 10), read(3, true, "web", 150), read(3, true, "store", 50)),
            due,
            Set.of());

    assertThat(channels)
        .extracting(c -> c.channel() + " " + c.orders().get(3))
        .containsExactly("web 760", "store 250");
  }

  @Test
  void aPausedChannelIsNamedHoweverFewOrdersItHas() {
    List<DueAmount> read =
        new ArrayList<>(
            IntStream.range(0, 3 * DueByChannel.MOST_CHANNELS)
                .mapToObj(i -> read(0, false, "channel-" + i, 10))
                .toList());
    read.add(read(0, false, "paused", 1));

    List<ChannelReport> channels = DueByChannel.of(read, due, Set.of("paused"));

    assertThat(channels).hasSize(DueByChannel.MOST_CHANNELS);
    assertThat(channels.get(0).channel()).isEqualTo("paused");
  }

  private static DueAmount read(
      int minute, boolean sampled, @Nullable String channel, long orders) {
    return new DueAmount(
        minute, sampled, false, channel, "EUR", BigDecimal.valueOf(10 * orders), orders);
  }

  private static DueAmount held(int minute, String channel, long orders) {
    return new DueAmount(
        minute, false, true, channel, "EUR", BigDecimal.valueOf(10 * orders), orders);
  }
}
