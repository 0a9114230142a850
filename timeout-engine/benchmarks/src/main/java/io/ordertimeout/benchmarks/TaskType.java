package io.ordertimeout.benchmarks;

import java.util.Locale;

/** The available measurements. */
enum TaskType {
  STEADY_STATE,
  FILL_UNDER_GC_PRESSURE,
  LIFECYCLE_64_MS,
  LIFECYCLE_1_MS,
  TWO_PRODUCERS,
  BURST,
  SHARDED_BURST;

  BenchmarkTask task() {
    return switch (this) {
      case STEADY_STATE -> new SteadyStateTask();
      case FILL_UNDER_GC_PRESSURE -> new FillUnderGcPressureTask();
      case LIFECYCLE_64_MS -> new OrderLifecycleTask(64);
      case LIFECYCLE_1_MS -> new OrderLifecycleTask(1);
      case TWO_PRODUCERS -> new TwoProducersTask();
      case BURST -> new BurstTask();
      case SHARDED_BURST -> new ShardedBurstTask();
    };
  }

  /** Returns the name on the command line. */
  String option() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  static TaskType of(String option) {
    return valueOf(option.toUpperCase(Locale.ROOT).replace('-', '_'));
  }
}
