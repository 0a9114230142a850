package io.ordertimeout.orders.operator.status;

import io.ordertimeout.orders.intake.IntakeStops;
import io.ordertimeout.orders.operator.status.InstanceReport.ChannelReport;
import io.ordertimeout.orders.operator.status.InstanceReport.ShardReport;
import io.ordertimeout.orders.operator.status.InstanceReports.Reported;
import io.ordertimeout.orders.order.CancellationShares;
import io.ordertimeout.orders.order.Money;
import io.ordertimeout.orders.order.PastDueOrders;
import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.shard.OverdueOrders;
import io.ordertimeout.orders.suspension.Suspension;
import io.ordertimeout.orders.suspension.Suspensions;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
   * @param suspended pending orders past due that a pause or hold keeps from being decided, counted
   *     among the oldest and the newest 2,000 orders past due of each shard
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
      Counted suspended,
      long parked,
      long unpublished,
      Forecast forecast,
      List<ActivityByMinute.Minute> lastHour,
      List<Pause> pauses,
      List<Hold> holds,
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
   * @param channels the orders of each sales channel that come due within the hour, most orders
   *     first; at most fifty channels
   */
  public record Forecast(
      Instant from,
      List<Window> within,
      List<Long> ordersByMinute,
      @Nullable Instant amountsAsOf,
      List<AmountsByMinute> amountsByMinute,
      List<Channel> channels) {}

  /**
   * The orders that come due within some minutes.
   *
   * @param minutes the number of minutes
   * @param orders the number of orders
   * @param amounts the sums of their amounts, one for each currency
   * @param suspended those of them that a pause or hold in force covers
   * @param expectedCancelled how many of the others are likely to be cancelled, by how the orders
   *     ended whose deadlines passed within the last hour; null if these are too few
   */
  public record Window(
      int minutes,
      long orders,
      List<Money> amounts,
      OrderTotal suspended,
      @Nullable OrderTotal expectedCancelled) {}

  /**
   * A number of orders with their amounts.
   *
   * @param orders how many they are
   * @param amounts the sums of their amounts, one for each currency
   */
  public record OrderTotal(long orders, List<Money> amounts) {

    private static OrderTotal of(DueTotal due) {
      return new OrderTotal(due.orders(), Money.listOf(due.amounts()));
    }
  }

  /**
   * Orders that are counted up to a limit.
   *
   * @param orders how many they are, or at least are
   * @param complete whether all of them are counted
   * @param amounts the sums of their amounts, one for each currency
   * @param earliest the earliest of their deadlines; null if there are none
   */
  public record Counted(
      long orders, boolean complete, List<Money> amounts, @Nullable Instant earliest) {

    /** Creates it as the API states it. */
    public static Counted of(PastDueOrders.Total total) {
      return new Counted(
          total.orders(), total.complete(), Money.listOf(total.amounts()), total.earliest());
    }
  }

  /**
   * The orders of a sales channel that come due within the hour.
   *
   * @param channel the channel; null if the orders state none
   * @param orders how many they are
   * @param amounts the sums of their amounts, one for each currency
   */
  public record Channel(@Nullable String channel, long orders, List<Money> amounts) {}

  /**
   * The sums of amounts in a currency.
   *
   * @param currency code of the currency, as the shop writes it
   * @param values the sum of each of the next sixty minutes, as decimal numbers
   */
  public record AmountsByMinute(String currency, List<String> values) {}

  /**
   * An instance.
   *
   * @param instance its name
   * @param reportedAt when it last reported
   * @param silent whether that is too long ago for an instance that runs
   * @param report its report
   */
  public record Instance(String instance, Instant reportedAt, boolean silent, Report report) {

    private static Instance of(Reported reported) {
      InstanceReport report = reported.report();
      return new Instance(
          reported.instance(),
          reported.at(),
          reported.stale(),
          new Report(
              report.startedAt(),
              report.version(),
              report.clockOffsetMillis(),
              report.failingSeconds(),
              report.shards(),
              report.parked(),
              report.unpublished()));
    }
  }

  /**
   * What an instance reports of itself.
   *
   * @param startedAt when it started
   * @param version its version
   * @param clockOffsetMillis by how much Postgres's clock is ahead of its machine's
   * @param failingSeconds the failing steps, and for how long they have been failing
   * @param shards the shards that it owns
   * @param parked pending orders of its shards that are parked
   * @param unpublished events of its shards that Kafka has not acknowledged yet
   */
  public record Report(
      Instant startedAt,
      String version,
      long clockOffsetMillis,
      Map<String, Long> failingSeconds,
      List<ShardReport> shards,
      long parked,
      long unpublished) {}

  private static final DueTotal NONE = new DueTotal(0, Map.of());

  private final InstanceReports reports;
  private final ActivityByMinute activity;
  private final Suspensions suspensions;
  private final IntakeStops stops;
  private final OverdueOrders overdue;
  private final InputTopics topics;
  private final CancellationEstimate estimate;
  private final DatabaseClock clock;

  Overview(
      InstanceReports reports,
      ActivityByMinute activity,
      Suspensions suspensions,
      IntakeStops stops,
      OverdueOrders overdue,
      InputTopics topics,
      CancellationEstimate estimate,
      DatabaseClock clock) {
    this.reports = reports;
    this.activity = activity;
    this.suspensions = suspensions;
    this.stops = stops;
    this.overdue = overdue;
    this.topics = topics;
    this.estimate = estimate;
    this.clock = clock;
  }

  /** Returns the status now, by a handful of small queries, however many orders there are. */
  public Now now() {
    List<Reported> all = reports.all();
    List<InstanceReport> present =
        all.stream().filter(r -> !r.stale()).map(Reported::report).toList();
    List<Suspension> inForce = suspensions.inForce();
    List<Pause> pauses = inForce.stream().filter(Suspension::isPause).map(Pause::of).toList();
    return new Now(
        clock.now(),
        present.stream().flatMap(r -> r.shards().stream()).mapToLong(ShardReport::pending).sum(),
        overdue.overdue(),
        Counted.of(overdue.suspended()),
        present.stream().mapToLong(InstanceReport::parked).sum(),
        present.stream().mapToLong(InstanceReport::unpublished).sum(),
        forecast(present, inForce),
        activity.lastHour(),
        pauses,
        inForce.stream()
            .filter(s -> !s.isPause())
            .map(Hold::of)
            .sorted(Comparator.comparing(Hold::shard).thenComparing(Hold::id))
            .toList(),
        stops.inForce(),
        all.stream().map(Instance::of).toList(),
        unserved(present));
  }

  /** Returns the orders that come due within the next hour. */
  public Forecast forecast() {
    return forecast(
        reports.all().stream().filter(r -> !r.stale()).map(Reported::report).toList(),
        suspensions.inForce());
  }

  private Forecast forecast(List<InstanceReport> present, List<Suspension> inForce) {
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
    boolean allPaused = inForce.stream().anyMatch(s -> s.scope() == Suspension.Scope.ALL);
    if (!allPaused) {
      // The wheels retry orders under the pause of a channel within the minute.
      orders.set(0, Math.max(0, orders.get(0) - overdue.suspended().orders()));
    }
    List<ChannelReport> channels =
        present.stream().flatMap(report -> report.dueByChannel().stream()).toList();
    List<DueTotal> due = new ArrayList<>();
    List<DueTotal> suspended = new ArrayList<>();
    List<DueTotal> free = new ArrayList<>();
    for (int i = 0; i < InstanceReport.WINDOWS.size(); i++) {
      DueTotal all = due(InstanceReport.WINDOWS.get(i), orders, amounts);
      DueTotal kept = allPaused ? all : suspended(channels, i, inForce);
      due.add(all);
      free.add(all.minus(kept));
      // The sums may be some seconds older than the number of orders.
      suspended.add(new DueTotal(Math.min(kept.orders(), all.orders()), kept.amounts()));
    }
    List<CancellationShares.Share> shares = estimate.shares();
    List<Window> within =
        IntStream.range(0, due.size())
            .mapToObj(
                i ->
                    new Window(
                        InstanceReport.WINDOWS.get(i),
                        due.get(i).orders(),
                        Money.listOf(due.get(i).amounts()),
                        OrderTotal.of(suspended.get(i)),
                        CancellationEstimate.expected(free, i, shares)
                            .map(OrderTotal::of)
                            .orElse(null)))
            .toList();
    return new Forecast(
        clock.now(),
        within,
        orders,
        asOf,
        amounts.entrySet().stream()
            .map(
                entry ->
                    new AmountsByMinute(
                        entry.getKey(),
                        entry.getValue().stream().map(BigDecimal::toPlainString).toList()))
            .toList(),
        channels(channels));
  }

  private static DueTotal due(
      int minutes, List<Long> orders, Map<String, List<BigDecimal>> amounts) {
    Map<String, BigDecimal> sums = new TreeMap<>();
    amounts.forEach(
        (currency, byMinute) ->
            sums.put(
                currency,
                byMinute.subList(0, minutes).stream().reduce(BigDecimal.ZERO, BigDecimal::add)));
    return new DueTotal(orders.subList(0, minutes).stream().mapToLong(Long::longValue).sum(), sums);
  }

  private static DueTotal suspended(
      List<ChannelReport> channels, int window, List<Suspension> inForce) {
    Set<String> names = new HashSet<>();
    inForce.forEach(s -> names.add(String.valueOf(s.channel())));
    return channels.stream()
        .filter(
            report ->
                report.held() || (report.channel() != null && names.contains(report.channel())))
        .map(report -> within(report, window))
        .reduce(NONE, DueTotal::plus);
  }

  private static DueTotal within(ChannelReport report, int window) {
    Map<String, BigDecimal> amounts = new TreeMap<>();
    report.amounts().forEach((currency, sums) -> amounts.put(currency, sums.get(window)));
    return new DueTotal(report.orders().get(window), amounts);
  }

  private static List<Channel> channels(List<ChannelReport> reports) {
    Map<Optional<String>, DueTotal> hour = new HashMap<>();
    for (ChannelReport report : reports) {
      if (!report.held()) {
        hour.merge(
            Optional.ofNullable(report.channel()),
            within(report, InstanceReport.WINDOWS.size() - 1),
            DueTotal::plus);
      }
    }
    return hour.entrySet().stream()
        .map(
            entry ->
                new Channel(
                    entry.getKey().orElse(null),
                    entry.getValue().orders(),
                    Money.listOf(entry.getValue().amounts())))
        .sorted(Comparator.comparing(Channel::orders).reversed())
        .limit(DueByChannel.MOST_CHANNELS)
        .toList();
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
    IntStream.range(0, layout.shards()).forEach(unserved::add);
    present.forEach(r -> r.shards().forEach(s -> unserved.remove(s.shard())));
    return List.copyOf(unserved);
  }
}
