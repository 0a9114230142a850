package io.ordertimeout.benchmarks;

import static io.ordertimeout.benchmarks.Implementation.AGRONA;
import static io.ordertimeout.benchmarks.Implementation.DELAY_QUEUE;
import static io.ordertimeout.benchmarks.Implementation.EXECUTOR;
import static io.ordertimeout.benchmarks.Implementation.KAFKA;
import static io.ordertimeout.benchmarks.Implementation.NETTY;
import static io.ordertimeout.benchmarks.Implementation.NETTY_HANDLES;
import static io.ordertimeout.benchmarks.Implementation.SHARDED;
import static io.ordertimeout.benchmarks.Implementation.SHARDED_BATCH;
import static io.ordertimeout.benchmarks.Implementation.WHEEL;
import static io.ordertimeout.benchmarks.Implementation.WHEEL_BATCH;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The sections of a report. */
final class BenchmarkPlan {

  private static final int TWO_PRODUCERS_SIZE = 1_000_000;
  private static final String SMALL_HEAP = "1g";

  private static final List<Implementation> ALL =
      List.of(WHEEL, WHEEL_BATCH, AGRONA, NETTY, NETTY_HANDLES, KAFKA, EXECUTOR, DELAY_QUEUE);
  private static final List<Implementation> SIMULATED = List.of(WHEEL, WHEEL_BATCH, AGRONA);

  private BenchmarkPlan() {}

  static List<ReportSection> of(Options options) {
    List<ReportSection> sections = new ArrayList<>();
    options.sizes().forEach(size -> sections.add(steadyState(size, options.heap())));
    sections.add(fillUnderGcPressure(options.largest()));
    options
        .sizes()
        .forEach(
            size ->
                sections.add(
                    lifecycle(TaskType.LIFECYCLE_64_MS, "64 ms", size, SIMULATED, options)));
    sections.add(
        lifecycle(
            TaskType.LIFECYCLE_1_MS, "1 ms", options.largest(), List.of(WHEEL_BATCH), options));
    sections.add(twoProducers(options.upTo(TWO_PRODUCERS_SIZE), options.heap()));
    sections.add(burst(options.largest(), options.heap()));
    sections.add(shardedBurst(options.largest(), options.heap()));
    return sections;
  }

  private static ReportSection steadyState(int size, String heap) {
    return new ReportSection(
        "Steady mix, memory, fill, expiry: " + pending(size),
        TaskType.STEADY_STATE,
        size,
        heap,
        ALL,
        List.of(
            "steady-ns",
            "bytes-filled",
            "bytes-churned",
            "bytes-drained",
            "expiry-ns",
            "fill-stall-ms",
            "fill-stall-without-gc-ms"),
        List.of(
            "schedule + cancel, CPU ns",
            "bytes per timer, filled",
            "churned",
            "drained",
            "expiry, CPU ns",
            "longest stall while filling, ms",
            "without GC, ms"),
        "steady-ns",
        true);
  }

  private static ReportSection fillUnderGcPressure(int size) {
    return new ReportSection(
        "Filling with -Xmx" + SMALL_HEAP + " and 200 MB/s of garbage: " + pending(size),
        TaskType.FILL_UNDER_GC_PRESSURE,
        size,
        SMALL_HEAP,
        List.of(WHEEL, WHEEL_BATCH),
        List.of("fill-stall-ms", "fill-stall-without-gc-ms", "garbage-mb-per-s"),
        List.of("longest stall, ms", "without GC, ms", "garbage, MB/s"),
        "fill-stall-ms",
        false);
  }

  private static ReportSection lifecycle(
      TaskType task, String tick, int size, List<Implementation> implementations, Options options) {
    return new ReportSection(
        "Order lifecycle, one turn every " + tick + ": " + pending(size),
        task,
        size,
        options.heap(),
        implementations,
        List.of("order-ns", "turn-p50-us", "turn-p99-us", "turn-p99.99-us", "turn-max-us"),
        List.of("per order, CPU ns", "advance p50, µs", "p99, µs", "p99.99, µs", "max, µs"),
        "order-ns",
        true);
  }

  private static ReportSection twoProducers(int size, String heap) {
    return new ReportSection(
        "Two producers: " + pending(size),
        TaskType.TWO_PRODUCERS,
        size,
        heap,
        List.of(SHARDED, SHARDED_BATCH, NETTY, KAFKA),
        List.of("operations-per-s", "operation-cpu-ns"),
        List.of("operations/s", "per operation, CPU ns"),
        "operations-per-s",
        false);
  }

  private static ReportSection burst(int size, String heap) {
    return new ReportSection(
        "A million due at once, in addition to " + pending(size),
        TaskType.BURST,
        size,
        heap,
        List.of(WHEEL, AGRONA),
        List.of("wait-p50-us", "wait-p99-us", "wait-max-us"),
        List.of("wait p50, µs", "p99, µs", "max, µs"),
        "wait-max-us",
        false);
  }

  private static ReportSection shardedBurst(int size, String heap) {
    return new ReportSection(
        "A million due at once through ShardedTimers, in addition to " + pending(size),
        TaskType.SHARDED_BURST,
        size,
        heap,
        List.of(SHARDED),
        List.of("call-p99-us", "call-max-us", "effect-p99-us", "effect-max-us", "burst-ms"),
        List.of("call p99, µs", "max, µs", "effect p99, µs", "max, µs", "all delivered, ms"),
        "effect-max-us",
        false);
  }

  private static String pending(int size) {
    return String.format(Locale.ROOT, "%,d pending", size);
  }
}
