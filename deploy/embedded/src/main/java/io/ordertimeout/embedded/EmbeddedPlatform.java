package io.ordertimeout.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A Postgres and a Kafka of its own for one process, both real, durable and on the loopback
 * address.
 *
 * <p>What they store survives a restart on the same directory, also after the JVM was killed. Each
 * can be stopped and started again, on the same port, to play an outage; doing so twice does
 * nothing. Thread-safe.
 */
public final class EmbeddedPlatform implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(EmbeddedPlatform.class);

  private final Path directory;
  private final boolean temporary;
  private final DirectoryLock lock;
  private final EmbeddedKafka kafka;
  private final EmbeddedPostgres postgres;
  private @Nullable Thread cleaner;

  private EmbeddedPlatform(
      Path directory,
      boolean temporary,
      DirectoryLock lock,
      EmbeddedKafka kafka,
      EmbeddedPostgres postgres) {
    this.directory = directory;
    this.temporary = temporary;
    this.lock = lock;
    this.kafka = kafka;
    this.postgres = postgres;
  }

  /**
   * Starts both, side by side, on a directory that is kept.
   *
   * @param kafkaPort preferred port; another one is used if it is taken, any free one if it is 0
   * @param postgresPort likewise
   * @throws IllegalStateException if another process uses the directory
   */
  public static EmbeddedPlatform start(Path dataDirectory, int kafkaPort, int postgresPort) {
    return start(dataDirectory.toAbsolutePath().normalize(), false, kafkaPort, postgresPort);
  }

  /** Starts both on free ports and on a directory that {@link #close} or the JVM's end deletes. */
  public static EmbeddedPlatform startTemporary() {
    Path directory;
    try {
      directory = Files.createTempDirectory("order-timeout");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    EmbeddedPlatform platform = start(directory, true, 0, 0);
    Thread cleaner = new Thread(platform::release, "platform-cleaner");
    platform.cleaner = cleaner;
    Runtime.getRuntime().addShutdownHook(cleaner);
    return platform;
  }

  private static EmbeddedPlatform start(
      Path directory, boolean temporary, int kafkaPort, int postgresPort) {
    try {
      DirectoryLock lock = DirectoryLock.of(directory);
      EmbeddedPlatform platform;
      try {
        platform =
            new EmbeddedPlatform(
                directory,
                temporary,
                lock,
                new EmbeddedKafka(directory.resolve("kafka"), kafkaPort),
                new EmbeddedPostgres(directory.resolve("postgres"), postgresPort));
      } catch (IOException | RuntimeException e) {
        lock.close();
        throw e;
      }
      platform.startBoth();
      return platform;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void startBoth() {
    CompletableFuture<Optional<RuntimeException>> kafkaStart =
        CompletableFuture.supplyAsync(
            () -> failure(this::startKafka), task -> new Thread(task, "kafka-start").start());
    Optional<RuntimeException> failure = failure(this::startPostgres);
    failure = failure.or(kafkaStart::join);
    if (failure.isPresent()) {
      kafkaStart.join();
      release();
      throw failure.get();
    }
  }

  private static Optional<RuntimeException> failure(Runnable start) {
    try {
      start.run();
      return Optional.empty();
    } catch (RuntimeException e) {
      return Optional.of(e);
    }
  }

  /** {@code host:port} of the broker. */
  public String bootstrapServers() {
    return kafka.bootstrapServers();
  }

  public String jdbcUrl() {
    return postgres.jdbcUrl();
  }

  public String username() {
    return EmbeddedPostgres.NAME;
  }

  public String password() {
    return postgres.password();
  }

  public Path passwordFile() {
    return postgres.passwordFile();
  }

  public Path dataDirectory() {
    return directory;
  }

  /** Returns when clients can connect. */
  public void startKafka() {
    run(kafka::start);
  }

  /** Returns when the broker is down and its directory closed. */
  public void stopKafka() {
    run(kafka::stop);
  }

  /**
   * A second broker beside Kafka's, on a directory of its own; to be started, and to be closed
   * before the platform. It follows the first one's controller as long as that is not started anew.
   */
  public EmbeddedKafka secondBroker(Path brokerDirectory) {
    try {
      return kafka.second(brokerDirectory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns when clients can connect. */
  public void startPostgres() {
    run(postgres::start);
  }

  /** Disconnects all clients and returns when the server is down. */
  public void stopPostgres() {
    run(postgres::stop);
  }

  /** Stops the server without any clean-up: at its next start it recovers from its log. */
  public void crashPostgres() {
    run(postgres::crash);
  }

  /** Stops Kafka, then Postgres. */
  @Override
  public void close() {
    Thread hook = cleaner;
    if (hook != null) {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        return; // the JVM ends, the hook does it
      }
    }
    release();
  }

  private synchronized void release() {
    quietly("stop Kafka", kafka::close);
    quietly("stop Postgres", postgres::close);
    if (temporary) {
      quietly("delete " + directory, () -> Directories.delete(directory));
    }
    quietly("unlock " + directory, lock::close);
  }

  private static void quietly(String what, Step step) {
    try {
      step.run();
    } catch (IOException | RuntimeException e) {
      log.warn("Could not {}", what, e);
    }
  }

  private static void run(Step step) {
    try {
      step.run();
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }

  @FunctionalInterface
  private interface Step {
    void run() throws IOException;
  }
}
