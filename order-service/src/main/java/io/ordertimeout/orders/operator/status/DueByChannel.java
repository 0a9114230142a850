package io.ordertimeout.orders.operator.status;

import io.ordertimeout.orders.operator.status.InstanceReport.ChannelReport;
import io.ordertimeout.orders.order.PendingOrderStatistics.DueAmount;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The orders that come due within the windows of a forecast, by sales channel. */
final class DueByChannel {

  /** Channels beyond that, those with the fewest orders, are not told apart. */
  static final int MOST_CHANNELS = 50;

  private static final int MOST_CURRENCIES = 20;

  private record Key(boolean held, @Nullable String channel) {}

  private DueByChannel() {}

  /**
   * Sums up what was read. The orders of held shards are one entry, whatever their channels.
   *
   * @param due the number of due orders by minute
   * @param paused channels that are named however few orders they have
   */
  static List<ChannelReport> of(List<DueAmount> read, List<Long> due, Set<String> paused) {
    List<MinuteSample> minutes = new ArrayList<>();
    for (int minute = 0; minute < InstanceReport.MINUTES; minute++) {
      minutes.add(MinuteSample.of(minute, read, due.get(minute)));
    }
    Map<Key, ChannelReport> channels = new HashMap<>();
    for (DueAmount sum : read) {
      Key key = new Key(sum.held(), sum.held() ? null : sum.channel());
      add(channels.computeIfAbsent(key, first -> empty(key)), sum, minutes.get(sum.minute()));
    }
    return channels.values().stream()
        .sorted(
            Comparator.comparing(
                    (ChannelReport report) ->
                        !report.held()
                            && !(report.channel() != null && paused.contains(report.channel())))
                .thenComparing(DueByChannel::withinTheHour, Comparator.reverseOrder()))
        .limit(MOST_CHANNELS)
        .toList();
  }

  private static long withinTheHour(ChannelReport report) {
    return report.orders().get(report.orders().size() - 1);
  }

  private static ChannelReport empty(Key key) {
    return new ChannelReport(
        key.held,
        key.channel,
        new ArrayList<>(Collections.nCopies(InstanceReport.WINDOWS.size(), 0L)),
        new TreeMap<>());
  }

  private static void add(ChannelReport report, DueAmount sum, MinuteSample sample) {
    String currency = sum.currency();
    List<BigDecimal> amounts =
        currency == null
                || (report.amounts().size() == MOST_CURRENCIES
                    && !report.amounts().containsKey(currency))
            ? null
            : report
                .amounts()
                .computeIfAbsent(
                    currency,
                    first ->
                        new ArrayList<>(
                            Collections.nCopies(InstanceReport.WINDOWS.size(), BigDecimal.ZERO)));
    for (int i = 0; i < InstanceReport.WINDOWS.size(); i++) {
      if (sum.minute() < InstanceReport.WINDOWS.get(i)) {
        report.orders().set(i, report.orders().get(i) + sample.orders(sum));
        if (amounts != null) {
          amounts.set(i, amounts.get(i).add(sample.amount(sum)));
        }
      }
    }
  }
}
