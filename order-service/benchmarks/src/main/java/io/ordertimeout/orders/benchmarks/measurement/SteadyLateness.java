package io.ordertimeout.orders.benchmarks.measurement;

import io.ordertimeout.orders.benchmarks.contender.Contender;
import io.ordertimeout.orders.benchmarks.report.Plot;
import io.ordertimeout.orders.benchmarks.report.Plot.Line;
import io.ordertimeout.orders.benchmarks.report.Results.Section;
import io.ordertimeout.orders.benchmarks.servers.ChildJvm;
import io.ordertimeout.orders.benchmarks.servers.Waiting;
import io.ordertimeout.orders.benchmarks.traffic.Judge;
import io.ordertimeout.orders.benchmarks.traffic.Judge.Verdict;
import io.ordertimeout.orders.benchmarks.traffic.OpenLoop;
import io.ordertimeout.orders.benchmarks.traffic.Shop;
import io.ordertimeout.orders.benchmarks.traffic.Trial;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/** Lateness and cost under a steady load of orders, of which some are paid. */
final class SteadyLateness {

  private static final double MILLIS_PER_SECOND = 1e3;
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final long SEED = 11;

  /** One second of a run. */
  private record Second(
      double cancelled, double p50, double p99, double cpu, double postgresCpu, double kafkaCpu) {}

  private final Shop shop;
  private final Contender contender;
  private final OpenLoop load;
  private final Duration warmUp;
  private final Consumer<Duration> meanwhile;

  SteadyLateness(Shop shop, Contender contender, OpenLoop load, Duration warmUp) {
    this(shop, contender, load, warmUp, duration -> {});
  }

  /**
   * Measures while something else happens.
   *
   * @param meanwhile runs in a thread of its own from the end of the warm-up; it is given the time
   *     that is left until the last order arrives
   */
  SteadyLateness(
      Shop shop,
      Contender contender,
      OpenLoop load,
      Duration warmUp,
      Consumer<Duration> meanwhile) {
    this.shop = shop;
    this.contender = contender;
    this.load = load;
    this.warmUp = warmUp;
    this.meanwhile = meanwhile;
  }

  /** Measures and adds a row to the section; returns what was found about the cancellations. */
  Verdict measure(Section section, String row, long firstNumber) {
    List<Second> seconds = new ArrayList<>();
    Histogram warming = histogram();
    Histogram lateness = histogram();
    Verdict verdict;
    try (Trial trial = new Trial(shop, firstNumber, load.atMostOrders())) {
      Judge judge = trial.judge();
      CompletableFuture<Void> traffic =
          CompletableFuture.runAsync(
              () -> load.run(trial.customers(), new Random(SEED)),
              task -> new Thread(task, "customers").start());
      long warm = warmUp.toSeconds();
      CompletableFuture<Void> other = CompletableFuture.completedFuture(null);
      Map<ChildJvm, Integer> pauses = Map.of();
      long cancelledBefore = 0;
      Usage before = Usage.of(contender, shop.servers());
      Usage last = before;
      for (long second = 0; !traffic.isDone(); second++) {
        Waiting.pause((long) MILLIS_PER_SECOND);
        Usage now = Usage.of(contender, shop.servers());
        Histogram interval = judge.latenessSinceLastCall();
        if (second < warm) {
          warming.add(interval);
          before = now;
          pauses = pauses();
          cancelledBefore = judge.cancelled();
          if (second + 1 == warm) {
            other = meanwhile(remaining(warm));
          }
        } else {
          lateness.add(interval);
        }
        seconds.add(second(interval, now.since(last)));
        last = now;
      }
      traffic.join();
      other.join();
      Usage used = last.since(before);
      long cancelledMeanwhile = judge.cancelled() - cancelledBefore;
      Waiting.until(() -> judge.cancelled() >= judge.unpaid(), PATIENCE);
      lateness.add(judge.latenessSinceLastCall());
      addLateness(section, row + ", during the warm-up", warming);
      addLateness(section, row, lateness);
      long orders = Math.round(cancelledMeanwhile / (1 - load.paidShare()));
      used.addPerOrder(section, row, Math.max(1, orders));
      section.add(row, "longest GC pause, ms", longestPause(pauses));
      verdict = judge.verdict();
    }
    plot(section, row, seconds);
    return verdict;
  }

  private static Histogram histogram() {
    Histogram histogram = new Histogram(3);
    histogram.setAutoResize(true);
    return histogram;
  }

  private static void addLateness(Section section, String row, Histogram lateness) {
    section.add(row, "lateness p50, ms", (double) lateness.getValueAtPercentile(50));
    section.add(row, "p99", (double) lateness.getValueAtPercentile(99));
    section.add(row, "p99.9", (double) lateness.getValueAtPercentile(99.9));
    section.add(row, "max", (double) lateness.getMaxValue());
  }

  private Duration remaining(long warm) {
    return Duration.ofSeconds(load.duration().toSeconds() - warm);
  }

  private CompletableFuture<Void> meanwhile(Duration duration) {
    return CompletableFuture.runAsync(
        () -> meanwhile.accept(duration), task -> new Thread(task, "meanwhile").start());
  }

  /** The number of pauses so far, by process. */
  private Map<ChildJvm, Integer> pauses() {
    return contender.processes().stream()
        .collect(Collectors.toMap(Function.identity(), process -> process.pauses().count()));
  }

  private static double longestPause(Map<ChildJvm, Integer> before) {
    return before.entrySet().stream()
        .mapToDouble(entry -> entry.getKey().pauses().longestMillisAfter(entry.getValue()))
        .max()
        .orElse(0);
  }

  private static Second second(Histogram lateness, Usage used) {
    return new Second(
        lateness.getTotalCount(),
        lateness.getValueAtPercentile(50),
        lateness.getValueAtPercentile(99),
        percent(used.contender()),
        percent(used.postgres()),
        percent(used.kafka()));
  }

  private static double percent(Duration cpuOfASecond) {
    return cpuOfASecond.toNanos() / 1e7;
  }

  private static void plot(Section section, String row, List<Second> seconds) {
    section.plot(
        new Plot(
            row + ": lateness, ms",
            List.of(line("p50", seconds, Second::p50), line("p99", seconds, Second::p99))));
    section.plot(
        new Plot(
            row + ": cancellations per second",
            List.of(line("cancelled", seconds, Second::cancelled))));
    section.plot(
        new Plot(
            row + ": CPU, % of a core",
            List.of(
                line("contender", seconds, Second::cpu),
                line("Postgres", seconds, Second::postgresCpu),
                line("Kafka", seconds, Second::kafkaCpu))));
  }

  private static Line line(String name, List<Second> seconds, Function<Second, Double> value) {
    return new Line(name, seconds.stream().map(value).toList());
  }
}
