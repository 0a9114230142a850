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
 * Postgres and Kafka for one process: real servers, durable, bound to the loopback address.
 *
 * <p>Data survives a restart on the same directory, even after the JVM was killed. To simulate an
 * outage, each server can be stopped and started again on the same port; repeated calls have no
 * effect. Thread-safe.
 */
public final class EmbeddedPlatform implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(EmbeddedPlatform.class);

  private final Path directory;
  private final boolean temporary;
  private final DirectoryLock lock;
  private final EmbeddedKafka kafka;
  private final EmbeddedPostgres postgres;
  private @Nullable EndOfJvm cleaner;

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
   * Starts both servers in parallel on a persistent data directory.
   *
   * @param kafkaPort preferred port; if it is taken or 0, any free port is used
   * @param postgresPort preferred port; if it is taken or 0, any free port is used
   * @throws IllegalStateException if another process uses the directory
   */
  public static EmbeddedPlatform start(Path dataDirectory, int kafkaPort, int postgresPort) {
    return start(dataDirectory.toAbsolutePath().normalize(), false, kafkaPort, postgresPort);
  }

  /**
   * Starts both servers on free ports and a temporary directory, which is deleted on {@link #close}
   * or when the JVM ends.
   */
  public static EmbeddedPlatform startTemporary() {
    Path directory;
    try {
      directory = Files.createTempDirectory("order-timeout");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    EmbeddedPlatform platform = start(directory, true, 0, 0);
    platform.cleaner = EndOfJvm.release("platform-cleaner", platform::release);
    return platform;
  }

  private static EmbeddedPlatform start(
      Path directory, boolean temporary, int kafkaPort, int postgresPort) {
    try {
      DirectoryLock lock = DirectoryLock.acquire(directory);
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

  /** Returns {@code host:port} of the broker. */
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

  /** Returns the file that holds the database password. */
  public Path passwordFile() {
    return postgres.passwordFile();
  }

  public Path dataDirectory() {
    return directory;
  }

  /** Starts Kafka and returns when clients can connect. */
  public void startKafka() {
    run(kafka::start);
  }

  /** Stops Kafka and returns when the broker is down and its directory is released. */
  public void stopKafka() {
    run(kafka::stop);
  }

  /**
   * Creates a second broker on its own directory. The caller starts it, and closes it before this
   * platform. It loses its controller when the first broker is restarted.
   */
  public EmbeddedKafka secondBroker(Path brokerDirectory) {
    try {
      return kafka.second(brokerDirectory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts Postgres and returns when clients can connect. */
  public void startPostgres() {
    run(postgres::start);
  }

  /** Stops Postgres: disconnects all clients and returns when the server is down. */
  public void stopPostgres() {
    run(postgres::stop);
  }

  /**
   * Crashes Postgres: the server ends without clean-up and recovers from its WAL at the next start.
   */
  public void crashPostgres() {
    run(postgres::crash);
  }

  /** Stops Kafka, then Postgres. */
  @Override
  public void close() {
    EndOfJvm end = cleaner;
    if (end == null || end.cancel()) {
      release();
    }
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
