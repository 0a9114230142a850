package io.ordertimeout.local;

import io.ordertimeout.embedded.EmbeddedPlatform;
import io.ordertimeout.embedded.Passwords;
import io.ordertimeout.embedded.Ports;
import java.io.PrintStream;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.logging.LoggingInitializationContext;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.core.env.StandardEnvironment;

/**
 * Main class of the local demo. Runs Postgres, Kafka, the service, simulated shop traffic and a
 * periodic report in one process, or only the traffic and the report against an existing Kafka, or
 * a {@linkplain TrainingRun training run} of the service.
 *
 * @see LocalOptions
 */
public final class LocalDemo implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(LocalDemo.class);

  /** How long the statistics keep an order beyond the longest timeout, to catch late events. */
  private static final Duration RETENTION = Duration.ofMinutes(5);

  private final Clock clock = Clock.systemUTC();
  private final PrintStream out;
  private final Deque<AutoCloseable> parts = new ArrayDeque<>();
  private boolean closed;

  private LocalDemo(PrintStream out) {
    this.out = out;
  }

  public static void main(String[] arguments) {
    initialiseLogging();
    LocalDemo demo = new LocalDemo(System.out);
    Runtime.getRuntime().addShutdownHook(new Thread(demo::close, "shutdown"));
    try {
      demo.start(arguments);
    } catch (Exception e) {
      if (!demo.isClosed()) { // a shutdown during the start is not an error
        System.err.println("Cannot start the demo: " + rootMessage(e));
        log.debug("Cannot start the demo", e);
        System.exit(1);
      }
    }
  }

  private void start(String... arguments) {
    LocalOptions options = OptionsParser.parse(arguments);
    LocalOptions.Training training = options.training();
    if (training != null) {
      TrainingRun.run(training, clock, out);
      System.exit(0);
    }
    String kafka = options.kafka();
    if (kafka == null) {
      startEverything(options, arguments);
    } else {
      OrderStatistics statistics = startReader(kafka, clock.millis(), options);
      out.println("Sending shop traffic to an existing Kafka. Press Ctrl-C to stop.");
      out.println("  Kafka       " + kafka);
      startTrafficAndReport(kafka, statistics, OptionalLong::empty, List::of, options);
    }
  }

  private void startEverything(LocalOptions options, String... arguments) {
    out.println(
        "Starting Postgres, Kafka and the service; data directory: " + options.dataDirectory());
    EmbeddedPlatform platform =
        add(
            EmbeddedPlatform.start(
                options.dataDirectory(), options.kafkaPort(), options.postgresPort()));
    long startMillis = clock.millis();
    int servicePort = Ports.free("the service", options.servicePort());
    int managementPort = Ports.free("health and metrics", options.managementPort());
    RunningService service =
        add(
            RunningService.start(
                platform,
                options.partitions(),
                minCancellations(options.traffic()),
                servicePort,
                managementPort,
                Passwords.loadOrCreate(platform.dataDirectory().resolve("operator-password")),
                arguments));
    OrderStatistics statistics = startReader(platform.bootstrapServers(), startMillis, options);
    out.println(
        """

        Order timeout is running. Press Ctrl-C to stop.
          console     http://localhost:%d (user operator, password %s)
          health      http://localhost:%d/actuator/health
          metrics     http://localhost:%d/actuator/prometheus
          Kafka       %s
          Postgres    %s (user %s, password in file %s)
          data        %s\
        """
            .formatted(
                servicePort,
                service.operatorPassword(),
                managementPort,
                managementPort,
                platform.bootstrapServers(),
                platform.jdbcUrl(),
                platform.username(),
                platform.passwordFile(),
                platform.dataDirectory()));
    PauseReport pauses =
        new PauseReport("http://localhost:" + servicePort + "/#/pauses", ZoneId.systemDefault());
    startTrafficAndReport(
        platform.bootstrapServers(),
        statistics,
        service::pending,
        () -> pauses.lines(service.pauses(), service.suspended()),
        options);
  }

  /**
   * Returns a limit that the orders of an earlier run cannot exceed. After a restart nobody pays
   * them, and their cancellation must not trip the circuit breaker.
   */
  private static int minCancellations(LocalOptions.Traffic traffic) {
    return Math.max(100, traffic.mostPending());
  }

  private OrderStatistics startReader(String kafka, long startMillis, LocalOptions options) {
    Duration retention = options.traffic().longestTimeout().plus(RETENTION);
    OrderStatistics statistics = new OrderStatistics(startMillis, clock.millis(), retention);
    List<String> topics = options.traffic().allTopics() ? Topics.ALL : Topics.USUAL;
    add(new TopicReader(kafka, statistics, topics, startMillis, retention)).start();
    return statistics;
  }

  private void startTrafficAndReport(
      String kafka,
      OrderStatistics statistics,
      Supplier<OptionalLong> pending,
      Supplier<List<String>> pauses,
      LocalOptions options) {
    startTraffic(kafka, options.traffic());
    out.println();
    add(new ReportPrinter(statistics, pending, pauses, clock, out)).start(options.reportInterval());
  }

  private void startTraffic(String kafka, LocalOptions.Traffic options) {
    if (!options.enabled()) {
      out.println("  traffic     disabled");
      return;
    }
    Long chosen = options.seed();
    long seed = chosen == null ? ThreadLocalRandom.current().nextInt(1_000_000) : chosen;
    out.printf(
        "  traffic     %.1f orders/s, %.0f %% paid in time, %d to %d s to pay (up to %d s in the store),"
            + " seed %d%n",
        options.ordersPerSecond(),
        100 * options.paidRatio(),
        options.timeoutMin().toSeconds(),
        options.timeoutMax().toSeconds(),
        options.longestTimeout().toSeconds(),
        seed);
    ShopTraffic shop = add(ShopTraffic.to(kafka, options, seed, clock));
    shop.start();
    if (options.allTopics()) {
      add(new PaymentCloser(kafka, shop)).start();
    }
  }

  /** Configures logging before Kafka's threads start to log; the service would do so too late. */
  private static void initialiseLogging() {
    LoggingSystem logging = LoggingSystem.get(LocalDemo.class.getClassLoader());
    logging.beforeInitialize();
    logging.initialize(new LoggingInitializationContext(new StandardEnvironment()), null, null);
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  /** Registers a part for {@link #close}, or closes it at once if the shutdown has begun. */
  private <T extends AutoCloseable> T add(T part) {
    synchronized (this) {
      if (!closed) {
        parts.push(part);
        return part;
      }
    }
    close(part);
    throw new IllegalStateException("Stopped during the start");
  }

  /** Stops the parts in reverse order of their start: report, traffic, reader, service, servers. */
  @Override
  public void close() {
    Deque<AutoCloseable> closing;
    synchronized (this) {
      closed = true;
      closing = new ArrayDeque<>(parts);
      parts.clear();
    }
    closing.forEach(LocalDemo::close);
  }

  private static void close(AutoCloseable part) {
    try {
      part.close();
    } catch (Exception e) {
      log.warn("Could not stop {}", part.getClass().getSimpleName(), e);
    }
  }

  /** Returns the message of the innermost cause that has one. */
  private static String rootMessage(Throwable failure) {
    String root = failure.toString();
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      String message = cause.getMessage();
      if (message != null && !message.isBlank()) {
        root = message;
      }
    }
    return root;
  }
}
