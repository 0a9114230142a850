package io.ordertimeout.local;

import java.io.PrintStream;
import java.time.Clock;
import java.time.Duration;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One line every few seconds: what came in, what was decided, how late, and how often wrongly. All
 * but the pending orders, which the service counts, is from the ledger.
 */
final class Report implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Report.class);

  private final OrderLedger ledger;
  private final Supplier<OptionalLong> pending;
  private final Clock clock;
  private final PrintStream out;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, "report"));
  private @Nullable ScheduledFuture<?> schedule;

  Report(OrderLedger ledger, Supplier<OptionalLong> pending, Clock clock, PrintStream out) {
    this.ledger = ledger;
    this.pending = pending;
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
      out.println(line());
    } catch (RuntimeException e) {
      log.warn("A line of the report is missing", e);
    }
  }

  String line() {
    OrderLedger.Summary sum = ledger.summary(clock.millis());
    OptionalLong waiting = pending.get();
    return String.format(
        Locale.ROOT,
        "created %d | paid %d | closed %d | cancelled %d | pending %s | late p50 %s p99 %s"
            + " | conflicts %d | paid yet cancelled %d%s",
        sum.created(),
        sum.paid(),
        sum.closed(),
        sum.cancelled(),
        waiting.isPresent() ? String.valueOf(waiting.getAsLong()) : "?",
        millis(sum, sum.latenessP50Millis()),
        millis(sum, sum.latenessP99Millis()),
        sum.conflicts(),
        sum.paidYetCancelled(),
        sum.paidYetCancelled() == 0 ? "" : " <- must be 0");
  }

  private static String millis(OrderLedger.Summary sum, long millis) {
    return sum.latenesses() == 0 ? "-" : millis + " ms";
  }

  /** Prints a last line. */
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
