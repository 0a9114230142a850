package io.ordertimeout.it.support;

import io.ordertimeout.embedded.EmbeddedPlatform;
import java.util.List;
import java.util.Locale;
import org.springframework.jdbc.core.JdbcTemplate;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.kafka.KafkaContainer;
import org.testcontainers.postgresql.PostgreSQLContainer;

/**
 * Addresses of a Kafka and a Postgres for tests.
 *
 * <p>The {@linkplain #shared() shared} ones run in containers if Docker is available, embedded
 * otherwise. The system property {@code test.platform} overrides that: {@code auto} (default),
 * {@code testcontainers} or {@code embedded}.
 *
 * @param bootstrapServers {@code host:port} of the brokers, separated by commas
 * @param jdbcUrl of a database whose user may create other databases
 */
public record TestEnvironment(
    String bootstrapServers, String jdbcUrl, String username, String password) {

  private static final String KAFKA_IMAGE = "apache/kafka:4.2.0";
  private static final String POSTGRES_IMAGE = "postgres:18-alpine";

  private enum Kind {
    AUTO,
    TESTCONTAINERS,
    EMBEDDED
  }

  private static final class Holder {
    static final TestEnvironment SHARED = start();
  }

  /**
   * Kafka and Postgres of all tests of this JVM that do not stop them, started at the first call.
   * This Postgres does not wait for its disk, because no test crashes it.
   */
  public static TestEnvironment shared() {
    return Holder.SHARED;
  }

  private static TestEnvironment start() {
    return LogOwnership.asNobody(
        () -> {
          TestEnvironment environment = startSelected();
          environment.doWithoutDurability();
          return environment;
        });
  }

  private static TestEnvironment startSelected() {
    String wanted = System.getProperty("test.platform", "auto");
    Kind kind = Kind.valueOf(wanted.toUpperCase(Locale.ROOT));
    String reason = "because of -Dtest.platform=" + wanted;
    if (kind == Kind.AUTO) {
      boolean docker = DockerClientFactory.instance().isDockerAvailable();
      kind = docker ? Kind.TESTCONTAINERS : Kind.EMBEDDED;
      reason = "because Docker is " + (docker ? "available" : "not available");
    }
    boolean containers = kind == Kind.TESTCONTAINERS;
    System.out.printf(
        "Kafka and Postgres of the tests run %s, %s.%n",
        containers ? "in containers" : "embedded", reason);
    return containers ? containers() : of(EmbeddedPlatform.startTemporary());
  }

  private void doWithoutDurability() {
    JdbcTemplate postgres = Database.admin(this);
    for (String setting : List.of("fsync", "synchronous_commit", "full_page_writes")) {
      postgres.execute("alter system set " + setting + " = off");
    }
    postgres.execute("select pg_reload_conf()");
    checkPasswordsQuickly();
  }

  /** Has Postgres and its clients compute one hash to check a password, instead of thousands. */
  TestEnvironment checkPasswordsQuickly() {
    Database.admin(this)
        .execute(
            "set scram_iterations = 1; alter user \"%s\" password '%s'"
                .formatted(username, password.replace("'", "''")));
    return this;
  }

  /**
   * The addresses of an embedded platform that a test has to itself and can stop, start and crash.
   * Its Postgres is as durable as in production.
   */
  public static TestEnvironment of(EmbeddedPlatform platform) {
    return new TestEnvironment(
            platform.bootstrapServers(),
            platform.jdbcUrl(),
            platform.username(),
            platform.password())
        .checkPasswordsQuickly();
  }

  // Testcontainers removes them when the JVM ends.
  @SuppressWarnings("resource")
  private static TestEnvironment containers() {
    KafkaContainer kafka =
        new KafkaContainer(KAFKA_IMAGE)
            .withEnv("KAFKA_AUTO_CREATE_TOPICS_ENABLE", "false")
            // As in the embedded broker: the partitions of a killed consumer are free after 10 s.
            .withEnv("KAFKA_GROUP_CONSUMER_MIN_SESSION_TIMEOUT_MS", "10000")
            .withEnv("KAFKA_GROUP_CONSUMER_SESSION_TIMEOUT_MS", "10000")
            .withEnv("KAFKA_GROUP_CONSUMER_MIN_HEARTBEAT_INTERVAL_MS", "2000")
            .withEnv("KAFKA_GROUP_CONSUMER_HEARTBEAT_INTERVAL_MS", "2000");
    PostgreSQLContainer postgres =
        new PostgreSQLContainer(POSTGRES_IMAGE)
            .withCommand("postgres", "-c", "max_connections=200");
    kafka.start();
    postgres.start();
    return new TestEnvironment(
        kafka.getBootstrapServers(),
        postgres.getJdbcUrl(),
        postgres.getUsername(),
        postgres.getPassword());
  }
}
