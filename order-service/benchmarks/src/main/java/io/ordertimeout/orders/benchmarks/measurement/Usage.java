package io.ordertimeout.orders.benchmarks.measurement;

import io.ordertimeout.orders.benchmarks.contender.Contender;
import io.ordertimeout.orders.benchmarks.report.Results.Section;
import io.ordertimeout.orders.benchmarks.servers.CpuTime;
import io.ordertimeout.orders.benchmarks.servers.PostgresUsage;
import io.ordertimeout.orders.benchmarks.servers.Servers;
import java.time.Duration;
import java.util.function.Function;

/**
 * What a contender and its servers have used so far.
 *
 * @param contender CPU time of the contender
 * @param compilers CPU time of its JIT compilers
 * @param kafka CPU time of Kafka
 * @param postgres CPU time of Postgres
 * @param work what Postgres has done
 */
record Usage(
    Duration contender, Duration compilers, Duration kafka, Duration postgres, PostgresUsage work) {

  static Usage of(Contender contender, Servers servers) {
    return new Usage(
        sum(contender, CpuTime::used),
        sum(contender, CpuTime::usedByCompilers),
        servers.kafkaCpu().used(),
        servers.postgresCpu().used(),
        servers.postgresUsage());
  }

  private static Duration sum(Contender contender, Function<CpuTime, Duration> part) {
    return contender.processes().stream()
        .map(process -> part.apply(process.cpu()))
        .reduce(Duration.ZERO, Duration::plus);
  }

  /** What was used since then. */
  Usage since(Usage earlier) {
    return new Usage(
        contender.minus(earlier.contender),
        compilers.minus(earlier.compilers),
        kafka.minus(earlier.kafka),
        postgres.minus(earlier.postgres),
        work.since(earlier.work));
  }

  /** Adds what each order has cost. */
  void addPerOrder(Section section, String row, long orders) {
    addCpuPerOrder(section, row, orders);
    section.add(row, "WAL bytes per order", (double) work.walBytes() / orders);
    section.add(row, "statements per order", (double) work.statements() / orders);
  }

  /** Adds the CPU time that each order has cost. */
  void addCpuPerOrder(Section section, String row, long orders) {
    section.add(row, "CPU, µs per order", micros(contender) / orders);
    section.add(row, "of which JIT compiler", micros(compilers) / orders);
    section.add(row, "CPU of Postgres", micros(postgres) / orders);
    section.add(row, "CPU of Kafka", micros(kafka) / orders);
  }

  static double micros(Duration duration) {
    return duration.toNanos() / 1e3;
  }
}
