package io.ordertimeout.benchmarks;

import static io.ordertimeout.benchmarks.ContestantKind.AGRONA;
import static io.ordertimeout.benchmarks.ContestantKind.DELAY_QUEUE;
import static io.ordertimeout.benchmarks.ContestantKind.EXECUTOR;
import static io.ordertimeout.benchmarks.ContestantKind.FRONT;
import static io.ordertimeout.benchmarks.ContestantKind.FRONT_BATCH;
import static io.ordertimeout.benchmarks.ContestantKind.KAFKA;
import static io.ordertimeout.benchmarks.ContestantKind.NETTY;
import static io.ordertimeout.benchmarks.ContestantKind.NETTY_HANDLES;
import static io.ordertimeout.benchmarks.ContestantKind.WHEEL;
import static io.ordertimeout.benchmarks.ContestantKind.WHEEL_BATCH;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Which sections a run has. */
final class Plan {

  private static final int FRONT_SIZE = 1_000_000;
  private static final String SMALL_HEAP = "1g";

  private static final List<ContestantKind> ALL =
      List.of(WHEEL, WHEEL_BATCH, AGRONA, NETTY, NETTY_HANDLES, KAFKA, EXECUTOR, DELAY_QUEUE);
  private static final List<ContestantKind> SIMULATED = List.of(WHEEL, WHEEL_BATCH, AGRONA);

  private Plan() {}

  static List<Section> of(Options options) {
    List<Section> sections = new ArrayList<>();
    options.sizes().forEach(size -> sections.add(lifeSize(size, options.heap())));
    sections.add(fillBesideGarbage(options.largest()));
    options
        .sizes()
        .forEach(
            size ->
                sections.add(
                    wholeLife(TaskKind.WHOLE_LIFE_64_MS, "64 ms", size, SIMULATED, options)));
    sections.add(
        wholeLife(
            TaskKind.WHOLE_LIFE_1_MS, "1 ms", options.largest(), List.of(WHEEL_BATCH), options));
    sections.add(front(options.upTo(FRONT_SIZE), options.heap()));
    sections.add(burst(options.largest(), options.heap()));
    sections.add(frontBurst(options.largest(), options.heap()));
    return sections;
  }

  private static Section lifeSize(int size, String heap) {
    return new Section(
        "Steady mix, memory, fill, expiry: " + pending(size),
        TaskKind.LIFE_SIZE,
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
            "bytes a timer, filled",
            "churned",
            "drained",
            "expiry, CPU ns",
            "worst stall filling, ms",
            "without GC, ms"),
        "steady-ns",
        true);
  }

  private static Section fillBesideGarbage(int size) {
    return new Section(
        "Filling with -Xmx" + SMALL_HEAP + " beside 200 MB/s of garbage: " + pending(size),
        TaskKind.FILL_BESIDE_GARBAGE,
        size,
        SMALL_HEAP,
        List.of(WHEEL, WHEEL_BATCH),
        List.of("fill-stall-ms", "fill-stall-without-gc-ms", "garbage-mb-per-s"),
        List.of("worst stall, ms", "without GC, ms", "garbage, MB/s"),
        "fill-stall-ms",
        false);
  }

  private static Section wholeLife(
      TaskKind task, String tick, int size, List<ContestantKind> kinds, Options options) {
    return new Section(
        "Whole life of an order, a turn every " + tick + ": " + pending(size),
        task,
        size,
        options.heap(),
        kinds,
        List.of("order-ns", "turn-p50-us", "turn-p99-us", "turn-p99.99-us", "turn-max-us"),
        List.of("an order, CPU ns", "advance p50, µs", "p99, µs", "p99.99, µs", "max, µs"),
        "order-ns",
        true);
  }

  private static Section front(int size, String heap) {
    return new Section(
        "Two producers: " + pending(size),
        TaskKind.FRONT,
        size,
        heap,
        List.of(FRONT, FRONT_BATCH, NETTY, KAFKA),
        List.of("operations-per-s", "operation-cpu-ns"),
        List.of("operations/s", "an operation, CPU ns"),
        "operations-per-s",
        false);
  }

  private static Section burst(int size, String heap) {
    return new Section(
        "A million due at once: " + pending(size) + " besides",
        TaskKind.BURST,
        size,
        heap,
        List.of(WHEEL, AGRONA),
        List.of("wait-p50-us", "wait-p99-us", "wait-max-us"),
        List.of("wait p50, µs", "p99, µs", "max, µs"),
        "wait-max-us",
        false);
  }

  private static Section frontBurst(int size, String heap) {
    return new Section(
        "A million due at once, through the thread-safe front: " + pending(size) + " besides",
        TaskKind.FRONT_BURST,
        size,
        heap,
        List.of(FRONT),
        List.of("call-p99-us", "call-max-us", "effect-p99-us", "effect-max-us", "burst-ms"),
        List.of("call p99, µs", "max, µs", "effect p99, µs", "max, µs", "all handed out, ms"),
        "effect-max-us",
        false);
  }

  private static String pending(int size) {
    return String.format(Locale.ROOT, "%,d pending", size);
  }
}
