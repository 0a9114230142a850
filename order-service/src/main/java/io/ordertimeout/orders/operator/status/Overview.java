package io.ordertimeout.orders.operator.status;

import io.ordertimeout.orders.intake.IntakeStops;
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

/** The status of the whole system, assembled from the reports of all instances. Thread-safe. */
@Component
public class Overview {

  /**
   * The status at one time.
   *
   * @param at when it was assembled, by Postgres's clock
   * @param pending pending orders in the wheels
   * @param overdue pending orders of all shards, owned or not, that should have been decided long
   *     ago
   * @param suspended pending orders past due that a pause or hold keeps from being decided
   * @param parked pending orders that are parked, each for its own reason
   * @param unpublished events that Kafka has not acknowledged yet
   * @param forecast the orders that come due within the next hour
   * @param lastHour the activity of the last hour, by minute
   * @param pauses the pauses in force
   * @param holds the holds in force
   * @param stoppedTopics topics that are not read on, because most of their records are unusable
   * @param instances the reports of the instances
   * @param unservedShards shards that no instance owns
   */
  public record Now(
      Instant at,
      long pending,
      long overdue,
      long suspended,
      long parked,
      long unpublished,
      Forecast forecast,
      List<ActivityByMinute.Minute> lastHour,
      List<ExpiryPauses.Pause> pauses,
      List<ExpiryHolds.Hold> holds,
      List<IntakeStops.Stop> stoppedTopics,
      List<Instance> instances,
      List<Integer> unservedShards) {}

  /**
   * The orders that come due within the next hour.
   *
   * @param from the current time
   * @param within number and amounts of the orders within some windows; a window includes all
   *     shorter ones
   * @param ordersByMinute orders that come due within each of the next sixty minutes
   * @param amountsAsOf when the amounts were last summed up, the oldest time of all instances; null
   *     if that has not happened yet
   * @param amountsByMinute the amounts of those orders, by currency
   */
  public record Forecast(
      Instant from,
      List<Window> within,
      List<Long> ordersByMinute,
      @Nullable Instant amountsAsOf,
      Map<String, List<BigDecimal>> amountsByMinute) {}

  /**
   * The orders that come due within some minutes.
   *
   * @param minutes the number of minutes
   * @param orders the number of orders
   * @param amounts their amounts, by currency
   */
  public record Window(int minutes, long orders, Map<String, BigDecimal> amounts) {}

  /**
   * An instance.
   *
   * @param instance its name
   * @param reportedAt when it last reported
   * @param silent whether that is too long ago for an instance that runs
   * @param report its report
   */
  public record Instance(
      String instance, Instant reportedAt, boolean silent, InstanceReport report) {}

  private static final List<Integer> WINDOWS = List.of(1, 5, 15, 60);

  private final InstanceReports reports;
  private final ActivityByMinute activity;
  private final ExpiryPauses pauses;
  private final ExpiryHolds holds;
  private final IntakeStops stops;
  private final OverdueOrders overdue;
  private final InputTopics topics;
  private final DatabaseClock clock;

  Overview(
      InstanceReports reports,
      ActivityByMinute activity,
      ExpiryPauses pauses,
      ExpiryHolds holds,
      IntakeStops stops,
      OverdueOrders overdue,
      InputTopics topics,
      DatabaseClock clock) {
    this.reports = reports;
    this.activity = activity;
    this.pauses = pauses;
    this.holds = holds;
    this.stops = stops;
    this.overdue = overdue;
    this.topics = topics;
    this.clock = clock;
  }

  /** Returns the status now, by a handful of small queries, however many orders there are. */
  public Now now() {
    List<Reported> all = reports.all();
    List<InstanceReport> present =
        all.stream().filter(r -> !r.stale()).map(Reported::report).toList();
    return new Now(
        clock.now(),
        present.stream().flatMap(r -> r.shards().stream()).mapToLong(ShardReport::pending).sum(),
        overdue.overdue(),
        overdue.suspended(),
        present.stream().mapToLong(InstanceReport::parked).sum(),
        present.stream().mapToLong(InstanceReport::unpublished).sum(),
        forecast(present),
        activity.lastHour(),
        pauses.inForce(),
        holds.inForce(),
        stops.inForce(),
        all.stream().map(r -> new Instance(r.instance(), r.at(), r.stale(), r.report())).toList(),
        unserved(present));
  }

  /** Returns the orders that come due within the next hour. */
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
