package io.ordertimeout.it.support;

import io.ordertimeout.embedded.EmbeddedPlatform;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.kafka.KafkaContainer;
import org.testcontainers.postgresql.PostgreSQLContainer;

/**
 * The Kafka and the Postgres of all tests of this JVM: containers where Docker is, else the
 * embedded ones. The system property {@code test.platform} decides: {@code auto} (default), {@code
 * testcontainers} or {@code embedded}.
 *
 * @param bootstrapServers {@code host:port} of the broker
 * @param jdbcUrl of a database in which other databases can be made
 */
public record TestEnvironment(
    String bootstrapServers, String jdbcUrl, String username, String password) {

  private static final Logger log = LoggerFactory.getLogger(TestEnvironment.class);
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

  /** Started when it is first asked for; ends with the JVM. */
  public static TestEnvironment shared() {
    return Holder.SHARED;
  }

  private static TestEnvironment start() {
    String wanted = System.getProperty("test.platform", "auto");
    Kind kind = Kind.valueOf(wanted.toUpperCase(Locale.ROOT));
    if (kind == Kind.AUTO) {
      boolean docker = DockerClientFactory.instance().isDockerAvailable();
      kind = docker ? Kind.TESTCONTAINERS : Kind.EMBEDDED;
      log.info("Platform: {}, since Docker is {}", kind, docker ? "available" : "not available");
    } else {
      log.info("Platform: {}, since test.platform says so", kind);
    }
    return kind == Kind.TESTCONTAINERS ? containers() : embedded();
  }

  // Closed by the JVM's end, which also deletes its directory.
  private static TestEnvironment embedded() {
    return of(EmbeddedPlatform.startTemporary());
  }

  /** An embedded platform of the test's own, which it can stop and start. */
  public static TestEnvironment of(EmbeddedPlatform platform) {
    return new TestEnvironment(
        platform.bootstrapServers(), platform.jdbcUrl(), platform.username(), platform.password());
  }

  // Removed by Testcontainers when the JVM ends.
  @SuppressWarnings("resource")
  private static TestEnvironment containers() {
    KafkaContainer kafka =
        new KafkaContainer(KAFKA_IMAGE)
            .withEnv("KAFKA_AUTO_CREATE_TOPICS_ENABLE", "false")
            // As in the embedded one: a killed consumer's partitions are free again after 10 s.
            .withEnv("KAFKA_GROUP_CONSUMER_MIN_SESSION_TIMEOUT_MS", "10000")
            .withEnv("KAFKA_GROUP_CONSUMER_SESSION_TIMEOUT_MS", "10000")
            .withEnv("KAFKA_GROUP_CONSUMER_MIN_HEARTBEAT_INTERVAL_MS", "2000")
            .withEnv("KAFKA_GROUP_CONSUMER_HEARTBEAT_INTERVAL_MS", "2000");
    PostgreSQLContainer postgres = new PostgreSQLContainer(POSTGRES_IMAGE);
    kafka.start();
    postgres.start();
    return new TestEnvironment(
        kafka.getBootstrapServers(),
        postgres.getJdbcUrl(),
        postgres.getUsername(),
        postgres.getPassword());
  }
}
