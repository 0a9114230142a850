package io.ordertimeout.local;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Options of the local demo.
 *
 * @param kafka {@code host:port} of an existing Kafka with a running service; if set, the demo
 *     starts only the traffic and the report
 * @param dataDirectory data directory of Postgres and Kafka; relative to the working directory
 * @param kafkaPort preferred port of Kafka; 0 for any free port
 * @param postgresPort preferred port of Postgres; 0 for any free port
 * @param servicePort preferred port of the console and API; 0 for any free port
 * @param managementPort preferred port of health and metrics; 0 for any free port
 * @param partitions number of partitions of the topics that the service creates
 * @param reportInterval time between two lines of the report
 * @param traffic options of the simulated shop traffic
 * @param training options of a training run, which replaces the demo; absent for the demo
 */
@ConfigurationProperties("local")
record LocalOptions(
    @Nullable String kafka,
    @DefaultValue(".local/data") Path dataDirectory,
    @DefaultValue("9092") int kafkaPort,
    @DefaultValue("5432") int postgresPort,
    @DefaultValue("8080") int servicePort,
    @DefaultValue("8081") int managementPort,
    @DefaultValue("6") int partitions,
    @DefaultValue("5s") Duration reportInterval,
    @DefaultValue Traffic traffic,
    @Nullable Training training) {

  LocalOptions {
    Set<Integer> ports = new HashSet<>();
    requirePort("local.kafka-port", kafkaPort, ports);
    requirePort("local.postgres-port", postgresPort, ports);
    requirePort("local.service-port", servicePort, ports);
    requirePort("local.management-port", managementPort, ports);
    require(
        partitions >= 1 && partitions <= 1_000,
        "local.partitions must be between 1 and 1000",
        partitions);
    requirePositive("local.report-interval", reportInterval);
    dataDirectory = dataDirectory.toAbsolutePath().normalize();
  }

  /**
   * Options of the simulated shop traffic.
   *
   * @param enabled whether the demo sends shop traffic
   * @param ordersPerSecond mean rate of new orders; the actual rate varies around it
   * @param timeoutMin shortest time that a customer has to pay
   * @param timeoutMax longest time that a customer has to pay
   * @param storeTimeoutMax the same for orders that are paid in the store, where it is longer
   * @param paidRatio share of orders that are paid in time, between 0 and 1
   * @param allTopics whether the traffic has payment attempts and changes of orders; the service of
   *     an existing Kafka must then read them
   * @param seed seed of the random generator, to repeat the same traffic; random if absent
   */
  record Traffic(
      @DefaultValue("true") boolean enabled,
      @DefaultValue("20") double ordersPerSecond,
      @DefaultValue("20s") Duration timeoutMin,
      @DefaultValue("60s") Duration timeoutMax,
      @DefaultValue("15m") Duration storeTimeoutMax,
      @DefaultValue("0.85") double paidRatio,
      @DefaultValue("true") boolean allTopics,
      @Nullable Long seed) {

    Traffic {
      require(
          ordersPerSecond > 0 && ordersPerSecond <= 100_000,
          "local.traffic.orders-per-second must be above 0 and at most 100000",
          ordersPerSecond);
      requirePositive("local.traffic.timeout-min", timeoutMin);
      require(
          timeoutMax.compareTo(timeoutMin) >= 0,
          "local.traffic.timeout-max must not be shorter than local.traffic.timeout-min ("
              + timeoutMin
              + ")",
          timeoutMax);
      require(
          paidRatio >= 0 && paidRatio <= 1,
          "local.traffic.paid-ratio must be between 0 and 1",
          paidRatio);
    }

    /** Returns the longest time that any customer has to pay. */
    Duration longestTimeout() {
      return timeoutMax.compareTo(storeTimeoutMax) < 0 ? storeTimeoutMax : timeoutMax;
    }

    /** Returns how many orders can be pending at a time, even if nobody pays. */
    int mostPending() {
      return (int)
          Math.min(Integer.MAX_VALUE, ordersPerSecond * longestTimeout().toMillis() / 1_000);
    }
  }

  /**
   * Options of a training run.
   *
   * @param jar the service, extracted
   * @param output the file that the run writes
   * @param jvmOptions options of the service's JVM; later ones must use the same
   * @param duration how long the service runs under traffic
   */
  record Training(
      Path jar,
      Path output,
      @DefaultValue List<String> jvmOptions,
      @DefaultValue("40s") Duration duration) {

    Training {
      require(jar != null && Files.isReadable(jar), "local.training.jar must be a file", jar);
      require(output != null, "local.training.output must be a file to write", output);
      requirePositive("local.training.duration", duration);
    }
  }

  private static void requirePort(String name, int port, Set<Integer> others) {
    require(port >= 0 && port <= 65_535, name + " must be between 0 and 65535", port);
    require(port == 0 || others.add(port), name + " must differ from the other ports", port);
  }

  private static void requirePositive(String name, Duration duration) {
    require(duration.compareTo(Duration.ZERO) > 0, name + " must be longer than 0", duration);
  }

  private static void require(boolean condition, String message, @Nullable Object value) {
    if (!condition) {
      throw new InvalidOptionException(message + ": " + value);
    }
  }
}
