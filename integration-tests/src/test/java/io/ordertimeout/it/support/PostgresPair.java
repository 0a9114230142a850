package io.ordertimeout.it.support;

import static org.awaitility.Awaitility.await;

import io.ordertimeout.embedded.EmbeddedPostgres;
import io.ordertimeout.embedded.EndOfJvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.util.FileSystemUtils;

/**
 * A Postgres primary and a streaming standby of its own. Replication runs through a proxy, and so
 * do the connections of clients, which stay the same when the standby takes the primary's place.
 */
public final class PostgresPair implements AutoCloseable {

  private final Path directory;
  private final EndOfJvm cleaner;
  private final TcpProxy clients;
  private final TcpProxy test;
  private final TcpProxy replication;
  private EmbeddedPostgres primary;
  private @Nullable EmbeddedPostgres standby;
  private @Nullable EmbeddedPostgres former;
  private @Nullable EmbeddedPostgres backup;
  private int copies;

  private PostgresPair() throws IOException {
    directory = Files.createTempDirectory("order-timeout-pair");
    primary = new EmbeddedPostgres(directory.resolve("first"), 0);
    clients = TcpProxy.to(primary.port());
    test = TcpProxy.to(primary.port());
    replication = TcpProxy.to(primary.port());
    cleaner = EndOfJvm.release("pair-cleaner", this::release);
  }

  /**
   * Starts a primary and its standby, which do not wait for their disks: no test cuts the power.
   */
  public static PostgresPair start() {
    PostgresPair pair = startDurable();
    for (EmbeddedPostgres server : List.of(pair.primary, pair.currentStandby())) {
      jdbc(server).execute("alter system set fsync = off");
      jdbc(server).execute("select pg_reload_conf()");
    }
    return pair;
  }

  /** Starts a primary and its standby that are as durable as in production. */
  public static PostgresPair startDurable() {
    try {
      PostgresPair pair = new PostgresPair();
      pair.primary.start();
      pair.direct("").checkPasswordsQuickly();
      // For a standby that begins to replicate some time after the backup that it is made from.
      pair.execute("alter system set wal_keep_size = '256MB'");
      pair.execute("select pg_reload_conf()");
      pair.addStandby();
      return pair;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The addresses for the test. Its connections are cut by a failover alone. */
  public TestEnvironment direct(String bootstrapServers) {
    return through(test.port(), bootstrapServers);
  }

  /** The addresses for the services. */
  public TestEnvironment proxied(String bootstrapServers) {
    return through(clients.port(), bootstrapServers);
  }

  /** The addresses of a further proxy, which the caller redirects and closes. */
  public TestEnvironment through(TcpProxy proxy, String bootstrapServers) {
    return through(proxy.port(), bootstrapServers);
  }

  /** The addresses of the standby itself, as a wrong configuration names them. */
  public TestEnvironment ofStandby(String bootstrapServers) {
    return through(currentStandby().port(), bootstrapServers);
  }

  private TestEnvironment through(int port, String bootstrapServers) {
    return new TestEnvironment(
        bootstrapServers,
        primary.jdbcUrl().replaceFirst(":\\d+/", ":" + port + "/"),
        EmbeddedPostgres.NAME,
        primary.password());
  }

  /** The proxy of the services. */
  public TcpProxy clients() {
    return clients;
  }

  public int primaryPort() {
    return primary.port();
  }

  /**
   * Makes commits wait until the standby has stored them, or not any more. Returns when that is in
   * force.
   */
  public void setSynchronous(boolean synchronous) {
    JdbcTemplate postgres = jdbc(primary);
    postgres.execute(
        "alter system set synchronous_standby_names = '" + (synchronous ? "*" : "") + "'");
    postgres.execute("select pg_reload_conf()");
    await("the mode of replication")
        .until(
            () ->
                Boolean.TRUE.equals(
                    postgres.queryForObject(
                        "select bool_or(sync_state = 'sync') = ? from pg_stat_replication",
                        Boolean.class,
                        synchronous)));
  }

  /** Waits until the standby has all that is committed. */
  public void awaitReplicated() {
    String written =
        Objects.requireNonNull(
            jdbc(primary).queryForObject("select pg_current_wal_lsn()::text", String.class));
    JdbcTemplate copy = jdbc(currentStandby());
    await("replication")
        .until(
            () ->
                Boolean.TRUE.equals(
                    copy.queryForObject(
                        "select pg_last_wal_replay_lsn() >= ?::pg_lsn", Boolean.class, written)));
  }

  /** The standby receives all that was committed before this call, and nothing after it. */
  public void cutReplication() {
    awaitReplicated();
    replication.refuse();
  }

  /** Ends the primary as a crash does and starts it again: it loses nothing. */
  public void restartPrimary() {
    crashPrimary();
    startPrimary();
  }

  /** Ends the primary as a crash does. Clients are refused until something takes its place. */
  public void crashPrimary() {
    run(primary::crash);
  }

  /** Starts the crashed primary again, with all its data, unless it runs. */
  public void startPrimary() {
    run(primary::start);
  }

  /**
   * Ends the primary as a crash does, promotes the standby and connects all clients to it. What was
   * committed after {@link #cutReplication} is lost.
   */
  public void failOver() {
    crashPrimary();
    promote();
    connectClients();
  }

  /**
   * Promotes the standby of a crashed primary and connects the test to it, but not the services.
   */
  public void promote() {
    EmbeddedPostgres promoted = currentStandby();
    run(promoted::promote);
    standby = null;
    replacePrimary(promoted);
  }

  /**
   * Promotes the standby while the primary runs on, and connects the test to it, but not the
   * services: they stay with the former primary until it ends.
   */
  public void promoteBesidePrimary() {
    EmbeddedPostgres promoted = currentStandby();
    run(promoted::promote);
    standby = null;
    former = primary;
    primary = promoted;
    connect(test);
  }

  /**
   * Makes the former primary, which {@link #promoteBesidePrimary} has left running, the primary
   * again and connects the test to it, but not the services: they stay with the other server, which
   * runs on as the former primary.
   */
  public void failBack() {
    EmbeddedPostgres between = primary;
    primary = Objects.requireNonNull(former, "there is no former primary");
    former = between;
    connect(test);
  }

  /** Ends the former primary, which runs beside the current one. */
  public void crashFormerPrimary() {
    run(Objects.requireNonNull(former, "there is no former primary")::crash);
    former = null;
  }

  /** Connects the services to the current primary. */
  public void connectClients() {
    connect(clients);
  }

  /** Connects the clients of a proxy to the current primary, and cuts those of another server. */
  public void connect(TcpProxy proxy) {
    proxy.redirect(primary.port());
    proxy.cut();
  }

  /** The single number that the query selects in the database as the standby has it. */
  public long countOnStandby(Database database, String query) {
    return count(currentStandby(), database.name(), query);
  }

  /** The single number that the query selects in a dump. */
  public long countInDump(String dump, String query) {
    return count(primary, dump, query);
  }

  private static long count(EmbeddedPostgres server, String database, String query) {
    String url = Database.url(server.jdbcUrl(), database);
    return Objects.requireNonNull(
        new JdbcTemplate(new DriverManagerDataSource(url, EmbeddedPostgres.NAME, server.password()))
            .queryForObject(query, Long.class));
  }

  /** Keeps a copy of all data as it is now, for {@link #restoreBackup}. */
  public void backUp() {
    run(
        () -> {
          // Clients are connected to the same port afterwards.
          primary.stop();
          backup = primary.copy(nextDirectory());
          primary.start();
        });
  }

  /**
   * Ends the primary and starts the copy of its earlier data in its place, for the test and, after
   * {@link #connectClients}, for the services. The standby does not follow.
   */
  public void restoreBackup() {
    EmbeddedPostgres restored = Objects.requireNonNull(backup, "backUp() was not called");
    backup = null;
    run(
        () -> {
          primary.crash();
          restored.start();
        });
    replacePrimary(restored);
  }

  private void replacePrimary(EmbeddedPostgres next) {
    run(primary::close);
    primary = next;
    connect(test);
  }

  /** Gives the primary a new standby in place of the one that was promoted or left behind. */
  public void addStandby() {
    EmbeddedPostgres former = standby;
    standby = null;
    if (former != null) {
      run(former::crash);
    }
    replication.redirect(primary.port());
    replication.restore();
    run(
        () -> {
          EmbeddedPostgres added = primary.standby(nextDirectory(), replication.port());
          standby = added;
          added.start();
        });
    awaitReplicated();
  }

  /**
   * Copies a database of the primary under another name, as a logical dump does. It cuts the
   * database's connections and refuses the services meanwhile, because only an unused database can
   * be copied.
   */
  public void dump(Database database, String dump) {
    clients.refuse();
    execute("drop database if exists " + dump + " with (force)");
    execute("alter database " + database.name() + " with allow_connections false");
    execute(
        "select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '"
            + database.name()
            + "'");
    // Copies the files, since the standby need not receive every row again.
    execute("create database " + dump + " template " + database.name() + " strategy file_copy");
    execute("alter database " + database.name() + " with allow_connections true");
    clients.restore();
  }

  /** Moves the deadlines of all pending orders in a dump to now. */
  public void makePendingDue(String dump) {
    new JdbcTemplate(
            new DriverManagerDataSource(
                Database.url(primary.jdbcUrl(), dump), EmbeddedPostgres.NAME, primary.password()))
        .execute("update order_deadline set deadline = now() where state = 'PENDING'");
  }

  /** Puts a dump in the place of its database, while its server and its clients run on. */
  public void restoreDump(Database database, String dump) {
    execute("drop database " + database.name() + " with (force)");
    execute("alter database " + dump + " rename to " + database.name());
  }

  /** Runs a statement on the primary, outside the databases of scenarios. */
  public void execute(String statement) {
    jdbc(primary).execute(statement);
  }

  private Path nextDirectory() {
    copies++;
    return directory.resolve("copy-" + copies);
  }

  private EmbeddedPostgres currentStandby() {
    return Objects.requireNonNull(standby, "the standby was promoted already");
  }

  private static JdbcTemplate jdbc(EmbeddedPostgres server) {
    return new JdbcTemplate(
        new DriverManagerDataSource(server.jdbcUrl(), EmbeddedPostgres.NAME, server.password()));
  }

  @Override
  public void close() {
    if (cleaner.cancel()) {
      release();
    }
  }

  private void release() {
    clients.close();
    test.close();
    replication.close();
    run(
        () -> {
          crash(standby);
          crash(former);
          primary.crash();
          FileSystemUtils.deleteRecursively(directory);
        });
  }

  private static void crash(@Nullable EmbeddedPostgres server) throws IOException {
    if (server != null) {
      server.crash();
    }
  }

  private static void run(Step step) {
    try {
      step.run();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @FunctionalInterface
  private interface Step {
    void run() throws IOException;
  }
}
