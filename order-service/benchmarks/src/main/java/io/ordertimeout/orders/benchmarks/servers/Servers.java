package io.ordertimeout.orders.benchmarks.servers;

import io.ordertimeout.embedded.EmbeddedPostgres;
import io.ordertimeout.embedded.Ports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Postgres and Kafka, each in processes of its own, as durable as in production. */
public final class Servers implements AutoCloseable {

  /** The settings that differ from Postgres's defaults, which suit a server with 1 GB of memory. */
  public static final List<String> POSTGRES_SETTINGS =
      List.of(
          "shared_buffers = '2GB'",
          "max_wal_size = '8GB'",
          "checkpoint_timeout = '15min'",
          "shared_preload_libraries = pg_stat_statements");

  private static final String CONTENDER = "contender";
  private static final Duration KAFKA_PATIENCE = Duration.ofMinutes(1);

  private final Path directory;
  private final EmbeddedPostgres postgres;
  private final CpuTime postgresCpu;
  private final JdbcClient admin;
  private final String bootstrapServers;
  private final ChildJvm kafka;
  private final Admin kafkaAdmin;

  private final int partitions;

  private Servers(Path directory, int partitions) throws IOException {
    this.directory = directory;
    this.partitions = partitions;
    this.postgres = new EmbeddedPostgres(directory.resolve("postgres"), 0);
    int port = Ports.any();
    this.bootstrapServers = Ports.LOOPBACK + ":" + port;
    this.kafka =
        ChildJvm.ofClass(
            directory.resolve("kafka.log"),
            "1g",
            BrokerMain.class,
            List.of(directory.resolve("kafka").toString(), String.valueOf(port)));
    this.admin = client(postgres.jdbcUrl(), postgres.password());
    startPostgres();
    this.postgresCpu = new CpuTime(postmaster());
    this.kafkaAdmin =
        Admin.create(
            Map.of(
                AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG,
                bootstrapServers,
                AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG,
                (int) KAFKA_PATIENCE.toMillis()));
    awaitKafka();
  }

  /**
   * Starts both in an empty directory, which also receives the log files of all processes.
   *
   * @param partitions of each topic of a shop
   */
  public static Servers start(Path directory, int partitions) {
    try {
      Files.createDirectories(directory);
      return new Servers(directory, partitions);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static JdbcClient client(String url, String password) {
    return JdbcClient.create(new DriverManagerDataSource(url, EmbeddedPostgres.NAME, password));
  }

  private void startPostgres() throws IOException {
    postgres.start();
    POSTGRES_SETTINGS.forEach(setting -> admin.sql("alter system set " + setting).update());
    admin
        .sql(
            "create role %s superuser login password '%s'"
                .formatted(CONTENDER, postgres.password()))
        .update();
    postgres.stop();
    postgres.start();
    admin.sql("create extension pg_stat_statements").update();
  }

  private ProcessHandle postmaster() {
    long child =
        admin
            .sql("select pid from pg_stat_activity where backend_type = 'checkpointer'")
            .query(Long.class)
            .single();
    return ProcessHandle.of(child).flatMap(ProcessHandle::parent).orElseThrow();
  }

  private void awaitKafka() throws IOException {
    try {
      kafkaAdmin.describeCluster().nodes().get();
    } catch (ExecutionException e) {
      throw new IOException("Kafka has not started, see " + directory.resolve("kafka.log"), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  /** The directory of data and log files. */
  public Path directory() {
    return directory;
  }

  /** How many partitions each topic of a shop has. */
  public int partitions() {
    return partitions;
  }

  /** {@code host:port} of the broker. */
  public String bootstrapServers() {
    return bootstrapServers;
  }

  public Admin kafkaAdmin() {
    return kafkaAdmin;
  }

  public CpuTime kafkaCpu() {
    return kafka.cpu();
  }

  public CpuTime postgresCpu() {
    return postgresCpu;
  }

  /** Creates an empty database. */
  public Database createDatabase(String name) {
    admin.sql("create database " + name + " owner " + CONTENDER).update();
    String url = postgres.jdbcUrl().replaceFirst("/[^/]*$", "/" + name);
    return Database.of(url, CONTENDER, EmbeddedPostgres.NAME, postgres.password());
  }

  /** Sets whether pages are written to the log as a whole when they first change. */
  public void fullPageImages(boolean enabled) {
    admin.sql("alter system set full_page_writes = " + enabled).update();
    admin.sql("select pg_reload_conf()").query(Boolean.class).single();
  }

  /** Returns what Postgres has done so far. */
  public PostgresUsage postgresUsage() {
    return admin
        .sql(
            """
            select
              (select coalesce(sum(calls), 0) from pg_stat_statements s
                join pg_roles r on r.oid = s.userid where r.rolname = :user)::bigint as statements,
              (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint as wal_bytes
            """)
        .param("user", CONTENDER)
        .query(PostgresUsage.class)
        .single();
  }

  @Override
  public void close() {
    kafkaAdmin.close(Duration.ZERO);
    kafka.kill();
    try {
      postgres.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
