package io.ordertimeout.local;

import java.io.PrintStream;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prints one line of statistics every few seconds, and the lines about pauses of expiry. The number
 * of pending orders and the pauses come from the service; all other figures come from {@link
 * OrderStatistics}.
 */
final class ReportPrinter implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ReportPrinter.class);

  private final OrderStatistics statistics;
  private final Supplier<OptionalLong> pending;
  private final Supplier<List<String>> pauses;
  private final Clock clock;
  private final PrintStream out;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, "report"));
  private @Nullable ScheduledFuture<?> schedule;

  ReportPrinter(
      OrderStatistics statistics,
      Supplier<OptionalLong> pending,
      Supplier<List<String>> pauses,
      Clock clock,
      PrintStream out) {
    this.statistics = statistics;
    this.pending = pending;
    this.pauses = pauses;
    this.clock = clock;
    this.out = out;
  }

  void start(Duration interval) {
    schedule =
        thread.scheduleAtFixedRate(
            this::print, interval.toMillis(), interval.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void print() {
    try {
      lines().forEach(out::println);
    } catch (RuntimeException e) {
      log.warn("Cannot print a line of the report", e);
    }
  }

  /** The line of statistics, followed by the pauses. */
  List<String> lines() {
    return Stream.concat(Stream.of(statistics()), pauses.get().stream()).toList();
  }

  private String statistics() {
    OrderStatistics.Summary sum = statistics.summary(clock.millis());
    OptionalLong waiting = pending.get();
    return String.format(
        Locale.ROOT,
        "created %d | paid %d | closed %d | warned %d | cancelled %d | pending %s | lateness p50 %s, p99 %s"
            + " | conflicts %d | paid yet cancelled %d%s",
        sum.created(),
        sum.paid(),
        sum.closed(),
        sum.warned(),
        sum.cancelled(),
        waiting.isPresent() ? String.valueOf(waiting.getAsLong()) : "?",
        millis(sum, sum.latenessP50Millis()),
        millis(sum, sum.latenessP99Millis()),
        sum.conflicts(),
        sum.paidYetCancelled(),
        sum.paidYetCancelled() == 0 ? "" : " (must be 0)");
  }

  private static String millis(OrderStatistics.Summary sum, long millis) {
    return sum.latenesses() == 0 ? "-" : millis + " ms";
  }

  /** Stops the schedule and prints a final line. */
  @Override
  public void close() {
    ScheduledFuture<?> running = schedule;
    if (running != null) {
      running.cancel(false);
      print();
    }
    thread.shutdown();
  }
}
