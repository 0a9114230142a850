package io.ordertimeout.orders.benchmarks.measurement;

import io.ordertimeout.orders.benchmarks.contender.Contender;
import io.ordertimeout.orders.benchmarks.report.Results.Section;
import io.ordertimeout.orders.benchmarks.servers.Servers;
import io.ordertimeout.orders.benchmarks.servers.Waiting;
import java.time.Duration;

/** What is used while nothing arrives and nothing is due, after a rest of the same duration. */
final class IdleCost {

  private IdleCost() {}

  static void measure(
      Servers servers, Contender contender, Duration duration, Section section, String row) {
    // Much of what the compiler still has to do after the measurement before does not count.
    Waiting.pause(duration.toMillis());
    Usage before = Usage.of(contender, servers);
    long begin = System.nanoTime();
    while (System.nanoTime() - begin < duration.toNanos()) {
      Waiting.pause(1_000);
      servers.postgresCpu().used();
    }
    Usage used = Usage.of(contender, servers).since(before);
    double seconds = (System.nanoTime() - begin) / 1e9;
    section.add(row, "CPU, % of a core", Usage.micros(used.contender()) / seconds / 1e4);
    section.add(row, "of which JIT compiler", Usage.micros(used.compilers()) / seconds / 1e4);
    section.add(row, "CPU of Postgres", Usage.micros(used.postgres()) / seconds / 1e4);
    section.add(row, "CPU of Kafka", Usage.micros(used.kafka()) / seconds / 1e4);
    section.add(row, "statements/s", used.work().statements() / seconds);
    section.add(row, "WAL bytes/s", used.work().walBytes() / seconds);
  }
}
