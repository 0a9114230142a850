package io.ordertimeout.local;

import io.ordertimeout.embedded.EmbeddedPlatform;
import io.ordertimeout.embedded.Passwords;
import io.ordertimeout.embedded.Ports;
import java.io.PrintStream;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalLong;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.logging.LoggingInitializationContext;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.core.env.StandardEnvironment;

/**
 * Everything in one process: Postgres, Kafka, the service, a shop's traffic and a report of what
 * comes of it; or the last two alone, for a Kafka elsewhere. {@link LocalOptions} are its options.
 */
public final class LocalPlatform implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(LocalPlatform.class);

  /** How long an order is remembered beyond its timeout, to judge what happened to it. */
  private static final Duration MEMORY = Duration.ofMinutes(5);

  private final Clock clock = Clock.systemUTC();
  private final PrintStream out;
  private final Deque<AutoCloseable> parts = new ArrayDeque<>();
  private boolean closed;

  private LocalPlatform(PrintStream out) {
    this.out = out;
  }

  public static void main(String[] arguments) {
    initialiseLogging();
    LocalPlatform platform = new LocalPlatform(System.out);
    Runtime.getRuntime().addShutdownHook(new Thread(platform::close, "shutdown"));
    try {
      platform.start(arguments);
    } catch (Exception e) {
      if (!platform.isClosed()) { // else it was interrupted, and needs no excuse
        System.err.println("The local platform cannot start: " + reason(e));
        log.debug("The local platform cannot start", e);
        System.exit(1);
      }
    }
  }

  private void start(String... arguments) {
    LocalOptions options = Options.of(arguments);
    String kafka = options.kafka();
    if (kafka == null) {
      startEverything(options, arguments);
    } else {
      OrderLedger ledger = watch(kafka, clock.millis(), options);
      out.println("Order timeout is elsewhere, Ctrl-C stops the shop.");
      out.println("  Kafka       " + kafka);
      play(kafka, ledger, OptionalLong::empty, options);
    }
  }

  private void startEverything(LocalOptions options, String... arguments) {
    out.println("Starting Postgres and Kafka in " + options.dataDirectory());
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
                servicePort,
                managementPort,
                Passwords.in(platform.dataDirectory().resolve("operator-password")),
                arguments));
    OrderLedger ledger = watch(platform.bootstrapServers(), startMillis, options);
    out.println(
        """

        Order timeout is running, Ctrl-C stops it.
          console     http://localhost:%d (log in as operator, password %s)
          health      http://localhost:%d/actuator/health
          metrics     http://localhost:%d/actuator/prometheus
          Kafka       %s
          Postgres    %s (user %s, password in %s)
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
    play(platform.bootstrapServers(), ledger, service::pending, options);
  }

  private OrderLedger watch(String kafka, long startMillis, LocalOptions options) {
    Duration memory = options.traffic().timeoutMax().plus(MEMORY);
    OrderLedger ledger = new OrderLedger(startMillis, clock.millis(), memory);
    add(new Watcher(kafka, ledger, startMillis, memory)).start();
    return ledger;
  }

  private void play(
      String kafka, OrderLedger ledger, Supplier<OptionalLong> pending, LocalOptions options) {
    startTraffic(kafka, options.traffic());
    out.println();
    add(new Report(ledger, pending, clock, out)).start(options.reportInterval());
  }

  private void startTraffic(String kafka, LocalOptions.Traffic options) {
    if (!options.enabled()) {
      out.println("  traffic     none");
      return;
    }
    Long chosen = options.seed();
    long seed = chosen == null ? ThreadLocalRandom.current().nextInt(1_000_000) : chosen;
    out.printf(
        "  traffic     %.1f orders/s, %.0f %% paid, timeout %d to %d s, seed %d%n",
        options.ordersPerSecond(),
        100 * options.paidRatio(),
        options.timeoutMin().toSeconds(),
        options.timeoutMax().toSeconds(),
        seed);
    add(ShopTraffic.to(kafka, options, seed, clock)).start();
  }

  /** Now, since the service would do it when Kafka's threads are logging already. */
  private static void initialiseLogging() {
    LoggingSystem logging = LoggingSystem.get(LocalPlatform.class.getClassLoader());
    logging.beforeInitialize();
    logging.initialize(new LoggingInitializationContext(new StandardEnvironment()), null, null);
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  /** Remembers what to close, or closes it if that has already begun. */
  private <T extends AutoCloseable> T add(T part) {
    synchronized (this) {
      if (!closed) {
        parts.push(part);
        return part;
      }
    }
    close(part);
    throw new IllegalStateException("Stopped while starting");
  }

  /** Stops the last part first: report, traffic, watcher, service, platform. */
  @Override
  public void close() {
    Deque<AutoCloseable> closing;
    synchronized (this) {
      closed = true;
      closing = new ArrayDeque<>(parts);
      parts.clear();
    }
    closing.forEach(LocalPlatform::close);
  }

  private static void close(AutoCloseable part) {
    try {
      part.close();
    } catch (Exception e) {
      log.warn("Could not stop {}", part.getClass().getSimpleName(), e);
    }
  }

  /** The message nearest to the cause. */
  private static String reason(Throwable failure) {
    String reason = failure.toString();
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      String message = cause.getMessage();
      if (message != null && !message.isBlank()) {
        reason = message;
      }
    }
    return reason;
  }
}
