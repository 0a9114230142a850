package io.ordertimeout.benchmarks;

import java.util.Locale;

/** What is measured. */
enum TaskKind {
  LIFE_SIZE,
  FILL_BESIDE_GARBAGE,
  WHOLE_LIFE_64_MS,
  WHOLE_LIFE_1_MS,
  FRONT,
  BURST,
  FRONT_BURST;

  Task task() {
    return switch (this) {
      case LIFE_SIZE -> new LifeSizeTask();
      case FILL_BESIDE_GARBAGE -> new FillBesideGarbageTask();
      case WHOLE_LIFE_64_MS -> new WholeLifeTask(64);
      case WHOLE_LIFE_1_MS -> new WholeLifeTask(1);
      case FRONT -> new FrontTask();
      case BURST -> new BurstTask();
      case FRONT_BURST -> new FrontBurstTask();
    };
  }

  /** Its name on the command line. */
  String option() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  static TaskKind of(String option) {
    return valueOf(option.toUpperCase(Locale.ROOT).replace('-', '_'));
  }
}
