package io.ordertimeout.orders.operator.status;

import io.ordertimeout.orders.operator.status.InstanceReport.ShardReport;
import io.ordertimeout.orders.operator.status.InstanceReports.Reported;
import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.shard.OverdueOrders;
import io.ordertimeout.orders.suspension.ExpiryHolds;
import io.ordertimeout.orders.suspension.ExpiryPauses;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** How all stands, told by any instance from what all have reported. Thread-safe. */
@Component
public class Overview {

  /**
   * How all stands.
   *
   * @param at when this was put together, by Postgres's clock
   * @param pending pending orders in the wheels
   * @param overdue pending orders, owned by anybody or not, that should long have been decided
   * @param parked pending orders that are not cancelled for now, each for its reason
   * @param unpublished events that Kafka has not acknowledged
   * @param forecast what comes due within the next hour
   * @param lastHour what was done within the last hour
   * @param pauses the pauses in force
   * @param holds the holds in force
   * @param instances what each instance says of itself
   * @param unservedShards shards that no instance serves
   */
  public record Now(
      Instant at,
      long pending,
      long overdue,
      long parked,
      long unpublished,
      Forecast forecast,
      List<ActivityByMinute.Minute> lastHour,
      List<ExpiryPauses.Pause> pauses,
      List<ExpiryHolds.Hold> holds,
      List<Instance> instances,
      List<Integer> unservedShards) {}

  /**
   * What comes due within the next hour.
   *
   * @param from the present time
   * @param within how many orders and how much within some windows, with all that is due sooner
   * @param ordersByMinute orders that come due within each of the next sixty minutes
   * @param amountsAsOf when the amounts were summed up last, the oldest of all instances; null if
   *     they were not yet
   * @param amountsByMinute by currency, what those orders amount to
   */
  public record Forecast(
      Instant from,
      List<Window> within,
      List<Long> ordersByMinute,
      @Nullable Instant amountsAsOf,
      Map<String, List<BigDecimal>> amountsByMinute) {}

  /**
   * What comes due within some minutes.
   *
   * @param minutes the minutes
   * @param orders how many orders
   * @param amounts by currency, what they amount to
   */
  public record Window(int minutes, long orders, Map<String, BigDecimal> amounts) {}

  /**
   * An instance.
   *
   * @param instance its name
   * @param reportedAt when it last spoke
   * @param silent whether that is too long ago
   * @param report what it said
   */
  public record Instance(
      String instance, Instant reportedAt, boolean silent, InstanceReport report) {}

  private static final List<Integer> WINDOWS = List.of(1, 5, 15, 60);

  private final InstanceReports reports;
  private final ActivityByMinute activity;
  private final ExpiryPauses pauses;
  private final ExpiryHolds holds;
  private final OverdueOrders overdue;
  private final InputTopics topics;
  private final DatabaseClock clock;

  Overview(
      InstanceReports reports,
      ActivityByMinute activity,
      ExpiryPauses pauses,
      ExpiryHolds holds,
      OverdueOrders overdue,
      InputTopics topics,
      DatabaseClock clock) {
    this.reports = reports;
    this.activity = activity;
    this.pauses = pauses;
    this.holds = holds;
    this.overdue = overdue;
    this.topics = topics;
    this.clock = clock;
  }

  /** How all stands now; a handful of small queries, however many orders there are. */
  public Now now() {
    List<Reported> all = reports.all();
    List<InstanceReport> present =
        all.stream().filter(r -> !r.stale()).map(Reported::report).toList();
    return new Now(
        clock.now(),
        present.stream().flatMap(r -> r.shards().stream()).mapToLong(ShardReport::pending).sum(),
        overdue.overdue(),
        present.stream().mapToLong(InstanceReport::parked).sum(),
        present.stream().mapToLong(InstanceReport::unpublished).sum(),
        forecast(present),
        activity.lastHour(),
        pauses.inForce(),
        holds.inForce(),
        all.stream().map(r -> new Instance(r.instance(), r.at(), r.stale(), r.report())).toList(),
        unserved(present));
  }

  /** What comes due within the next hour. */
  public Forecast forecast() {
    return forecast(reports.all().stream().filter(r -> !r.stale()).map(Reported::report).toList());
  }

  private Forecast forecast(List<InstanceReport> present) {
    List<Long> orders = new ArrayList<>(Collections.nCopies(InstanceReport.MINUTES, 0L));
    Map<String, List<BigDecimal>> amounts = new TreeMap<>();
    Instant asOf = null;
    for (InstanceReport report : present) {
      for (int i = 0; i < InstanceReport.MINUTES; i++) {
        orders.set(i, orders.get(i) + report.dueByMinute().get(i));
      }
      report
          .amountsByMinute()
          .forEach((currency, more) -> amounts.merge(currency, more, Overview::sum));
      Instant theirs = report.amountsAsOf();
      if (theirs != null && (asOf == null || theirs.isBefore(asOf))) {
        asOf = theirs;
      }
    }
    List<Window> within =
        WINDOWS.stream()
            .map(
                minutes -> {
                  Map<String, BigDecimal> sums = new TreeMap<>();
                  amounts.forEach(
                      (currency, byMinute) ->
                          sums.put(
                              currency,
                              byMinute.subList(0, minutes).stream()
                                  .reduce(BigDecimal.ZERO, BigDecimal::add)));
                  return new Window(
                      minutes,
                      orders.subList(0, minutes).stream().mapToLong(Long::longValue).sum(),
                      sums);
                })
            .toList();
    return new Forecast(clock.now(), within, orders, asOf, amounts);
  }

  private static List<BigDecimal> sum(List<BigDecimal> one, List<BigDecimal> other) {
    return IntStream.range(0, InstanceReport.MINUTES)
        .mapToObj(i -> one.get(i).add(other.get(i)))
        .toList();
  }

  private List<Integer> unserved(List<InstanceReport> present) {
    InputTopics.Layout layout = topics.layout();
    if (layout == null) {
      return List.of();
    }
    TreeSet<Integer> unserved = new TreeSet<>();
    IntStream.range(0, layout.partitions()).forEach(unserved::add);
    present.forEach(r -> r.shards().forEach(s -> unserved.remove(s.shard())));
    return List.copyOf(unserved);
  }
}
