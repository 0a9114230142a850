package io.ordertimeout.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Postgres server with production durability settings, bound to the loopback address.
 *
 * <p>Its directory contains {@code data}, {@code password} and {@code server.log}. The server is a
 * separate process that outlives a killed JVM; the next start on the same directory stops such an
 * orphan first. The caller ensures that only one process uses the directory at a time. Thread-safe.
 */
public final class EmbeddedPostgres implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(EmbeddedPostgres.class);

  public static final String NAME = "ordertimeout"; // of the database and of its user

  private static final String SETTINGS = "order-timeout.conf";
  private static final int WAIT_SECONDS = 60;

  /**
   * Server certificate and key, which enable TLS.
   *
   * @param certificate certificate chain, PEM
   * @param privateKey private key, PEM
   */
  public record Identity(String certificate, String privateKey) {

    /** Omits the private key. */
    @Override
    public String toString() {
      return "Identity";
    }
  }

  private final Path home;
  private final Path data;
  private final int port;
  private final PostgresBinaries binaries;
  private final RunAs runAs;
  private final String password;
  private final @Nullable Identity identity;

  /** The port of the server whose changes this one receives while it is a standby. */
  private final @Nullable Integer primaryPort;

  private boolean running;

  /** Creates a server and stops an orphan of the previous run, which may still hold the port. */
  public EmbeddedPostgres(Path home, int preferredPort) throws IOException {
    this(home, preferredPort, null);
  }

  /** Creates a server that also accepts TLS connections if an identity is given. */
  public EmbeddedPostgres(Path home, int preferredPort, @Nullable Identity identity)
      throws IOException {
    this(home, preferredPort, identity, null);
  }

  private EmbeddedPostgres(
      Path home, int preferredPort, @Nullable Identity identity, @Nullable Integer primaryPort)
      throws IOException {
    this.identity = identity;
    this.primaryPort = primaryPort;
    this.home = Files.createDirectories(home.toAbsolutePath().normalize());
    this.data = this.home.resolve("data");
    this.binaries = PostgresBinaries.unpack();
    this.runAs = RunAs.detect();
    this.password = Passwords.loadOrCreate(passwordFile());
    cleanUpPreviousRun();
    this.port = Ports.free("Postgres", preferredPort);
  }

  /**
   * Copies this running server into a new directory, as a standby that replicates from it once it
   * is started. The caller closes it.
   *
   * @param replicationPort the port of this server, or of a proxy to it
   */
  public EmbeddedPostgres standby(Path standbyHome, int replicationPort) throws IOException {
    prepareCopy(standbyHome);
    try (Connection connection = DriverManager.getConnection(jdbcUrl("postgres"), NAME, password)) {
      BaseBackup.copy(connection, data, standbyHome.resolve("data"));
    } catch (SQLException e) {
      throw new IOException("Cannot back up the server on port " + port, e);
    }
    Files.createFile(standbyHome.resolve("data").resolve("standby.signal"));
    return new EmbeddedPostgres(standbyHome, 0, null, replicationPort);
  }

  /** Copies this stopped server into a new directory. The caller closes the copy. */
  public synchronized EmbeddedPostgres copy(Path copyHome) throws IOException {
    if (running) {
      throw new IllegalStateException("The server on port " + port + " is running");
    }
    prepareCopy(copyHome);
    Directories.copy(data, copyHome.resolve("data"));
    return new EmbeddedPostgres(copyHome, 0, null, null);
  }

  private void prepareCopy(Path copyHome) throws IOException {
    Files.createDirectories(copyHome);
    PrivateFile.write(copyHome.resolve(passwordFile().getFileName()), password);
  }

  /** Ends the recovery of a running standby and returns when it accepts writes. */
  public synchronized void promote() throws IOException {
    run("pg_ctl", "promote", "-w", "-t", String.valueOf(WAIT_SECONDS), "-D", data.toString());
  }

  public String jdbcUrl() {
    return jdbcUrl(NAME);
  }

  public int port() {
    return port;
  }

  public String password() {
    return password;
  }

  Path passwordFile() {
    return home.resolve("password");
  }

  public synchronized void start() throws IOException {
    if (running) {
      return;
    }
    if (identity != null) {
      PrivateFile.write(certificateFile(), identity.certificate());
      PrivateFile.write(keyFile(), identity.privateKey());
    }
    runAs.chown(home);
    cleanUpPreviousRun();
    if (!Files.exists(data)) {
      initialise();
    }
    Files.writeString(data.resolve(SETTINGS), settings());
    run(
        "pg_ctl",
        "start",
        "-w",
        "-t",
        String.valueOf(WAIT_SECONDS),
        "-D",
        data.toString(),
        "-l",
        home.resolve("server.log").toString());
    running = true;
    createDatabase();
  }

  /** Stops the server in fast mode: clients are disconnected and all data is written. */
  public synchronized void stop() throws IOException {
    stop("fast");
  }

  /**
   * Stops the server in immediate mode, like a crash: it recovers from its WAL at the next start.
   */
  public synchronized void crash() throws IOException {
    stop("immediate");
  }

  @Override
  public void close() throws IOException {
    stop();
  }

  private void stop(String mode) throws IOException {
    if (running) {
      pgCtlStop(mode);
      running = false;
    }
  }

  private void pgCtlStop(String mode) throws IOException {
    run(
        "pg_ctl",
        "stop",
        "-w",
        "-t",
        String.valueOf(WAIT_SECONDS),
        "-m",
        mode,
        "-D",
        data.toString());
  }

  private void cleanUpPreviousRun() throws IOException {
    PostmasterPid postmaster = PostmasterPid.read(data).orElse(null);
    if (postmaster == null) {
      return;
    }
    switch (postmaster.state()) {
      case ORPHAN -> {
        log.warn(
            "Postgres of the previous run is still running as process {} on {}; stopping it",
            postmaster.pid(),
            data);
        pgCtlStop("fast");
      }
      case RECYCLED -> {
        // Postgres would mistake the other program for a running server and refuse to start.
        log.warn(
            "Postgres of the previous run was killed and its process id {} now belongs to another"
                + " program; removing {}",
            postmaster.pid(),
            data.resolve(PostmasterPid.FILE));
        Files.deleteIfExists(data.resolve(PostmasterPid.FILE));
      }
      case GONE ->
          log.info("Postgres was not stopped by the previous run; it recovers from its WAL");
    }
  }

  /** Initialises the data under a temporary name, so that a partial directory is never used. */
  private void initialise() throws IOException {
    log.info("Creating a Postgres database cluster in {}", data);
    Path unfinished = home.resolve("data.unfinished");
    Directories.delete(unfinished);
    run(
        "initdb",
        "--pgdata=" + unfinished,
        "--username=" + NAME,
        "--pwfile=" + passwordFile(),
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale=C",
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        "--no-instructions");
    Files.writeString(
        unfinished.resolve("postgresql.conf"),
        System.lineSeparator() + "include '" + SETTINGS + "'" + System.lineSeparator(),
        StandardOpenOption.APPEND);
    Files.move(unfinished, data, StandardCopyOption.ATOMIC_MOVE);
  }

  // Not %d, because some locales have other digits than Postgres.
  private String settings() {
    return """
        # Rewritten at every start.
        port = %s
        listen_addresses = '%s'
        unix_socket_directories = ''
        max_connections = 200
        fsync = on
        full_page_writes = on
        synchronous_commit = on
        log_min_messages = warning
        """
            .formatted(port, Ports.LOOPBACK)
        + (primaryPort == null
            ? ""
            : """
            primary_conninfo = 'host=%s port=%s user=%s password=%s'
            wal_retrieve_retry_interval = 100ms
            """
                .formatted(Ports.LOOPBACK, primaryPort, NAME, password))
        + (identity == null
            ? ""
            : """
            ssl = on
            ssl_cert_file = '%s'
            ssl_key_file = '%s'
            """
                .formatted(certificateFile(), keyFile()));
  }

  private Path certificateFile() {
    return home.resolve("server.crt");
  }

  private Path keyFile() {
    return home.resolve("server.key");
  }

  private void createDatabase() throws IOException {
    try (Connection connection = DriverManager.getConnection(jdbcUrl("postgres"), NAME, password);
        Statement statement = connection.createStatement();
        ResultSet found =
            statement.executeQuery("select 1 from pg_database where datname = '" + NAME + "'")) {
      if (!found.next()) {
        statement.execute("create database " + NAME);
      }
    } catch (SQLException e) {
      throw new IOException("Cannot create the database " + NAME + " on port " + port, e);
    }
  }

  private String jdbcUrl(String database) {
    return "jdbc:postgresql://" + Ports.LOOPBACK + ":" + port + "/" + database;
  }

  /** Runs a Postgres program to completion; a failure message contains its output. */
  private void run(String program, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(binaries.program(program).toString());
    command.addAll(List.of(arguments));
    // A file instead of a pipe, since the server inherits the output and would keep a pipe open.
    Path output = Files.createTempFile("postgres", ".out");
    try {
      ProcessBuilder builder =
          new ProcessBuilder(runAs.wrap(command))
              .directory(home.toFile())
              .redirectErrorStream(true)
              .redirectOutput(output.toFile());
      builder.environment().keySet().removeIf(name -> name.startsWith("PG"));
      builder.environment().put("LC_ALL", "C");
      Process process = builder.start();
      if (!process.waitFor(2L * WAIT_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IOException(program + " timed out: " + Files.readString(output));
      }
      if (process.exitValue() != 0) {
        throw new IOException(
            program
                + " failed (exit status "
                + process.exitValue()
                + "): "
                + Files.readString(output).strip()
                + lastLogLines());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(program + " was interrupted", e);
    } finally {
      Files.deleteIfExists(output);
    }
  }

  private String lastLogLines() throws IOException {
    Path serverLog = home.resolve("server.log");
    if (!Files.exists(serverLog)) {
      return "";
    }
    List<String> lines = Files.readAllLines(serverLog);
    return System.lineSeparator()
        + String.join(
            System.lineSeparator(), lines.subList(Math.max(0, lines.size() - 5), lines.size()));
  }
}
