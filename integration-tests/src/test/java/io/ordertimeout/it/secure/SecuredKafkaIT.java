package io.ordertimeout.it.secure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.pkitesting.X509Bundle;
import io.ordertimeout.embedded.EmbeddedKafka;
import io.ordertimeout.embedded.Ports;
import io.ordertimeout.it.support.LogCapture;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.TestEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.system.CapturedOutput;

/**
 * Kafka over TLS, with password or certificate authentication. The service knows no other address,
 * so each of its clients has to use the settings.
 */
@Tag("faults")
@ExtendWith(LogCapture.class)
@Order(25)
class SecuredKafkaIT {

  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final String USER = "order-timeout";

  @TempDir private static Path directory;

  private static CertificateAuthority authority;
  private static X509Bundle client;
  private static EmbeddedKafka kafka;
  private static TestEnvironment open;
  private static int passwordPort;
  private static int certificatePort;

  @BeforeAll
  static void start() throws Exception {
    authority = CertificateAuthority.create("authority");
    client = authority.client();
    passwordPort = Ports.any();
    certificatePort = Ports.any();
    X509Bundle server = authority.server();
    Map<String, String> identity =
        Map.of(
            "ssl.keystore.type", "PEM",
            "ssl.keystore.certificate.chain", server.getCertificatePathPEM(),
            "ssl.keystore.key", server.getPrivateKeyPEM());
    kafka =
        new EmbeddedKafka(
            directory.resolve("kafka"),
            0,
            List.of(
                new EmbeddedKafka.SecuredListener(
                    "PASSWORD",
                    passwordPort,
                    SecurityProtocol.SASL_SSL,
                    with(
                        identity,
                        Map.of(
                            "sasl.enabled.mechanisms",
                            "SCRAM-SHA-512",
                            "scram-sha-512.sasl.jaas.config",
                            "org.apache.kafka.common.security.scram.ScramLoginModule required;"))),
                new EmbeddedKafka.SecuredListener(
                    "CERTIFICATE",
                    certificatePort,
                    SecurityProtocol.SSL,
                    with(
                        identity,
                        Map.of(
                            "ssl.client.auth",
                            "required",
                            "ssl.truststore.type",
                            "PEM",
                            "ssl.truststore.certificates",
                            authority.certificate())))));
    kafka.start();
    TestEnvironment shared = TestEnvironment.shared();
    open =
        new TestEnvironment(
            kafka.bootstrapServers(), shared.jdbcUrl(), shared.username(), shared.password());
  }

  @AfterAll
  static void stop() {
    kafka.close();
  }

  @Test
  void allClientsAuthenticateWithAPassword(CapturedOutput output) throws IOException {
    String password = password();
    try (Scenario scenario = scenario(passwordPort)) {
      changePassword(scenario, password);
      try (Service service = scenario.startService(byPassword(authority, password))) {
        service.awaitReady(true);
        OrderFlow.assertOnlyUnpaidOrdersAreCancelled(scenario);
      }
    }
    Secrets.of(password).assertNotIn(output);
  }

  @Test
  void allClientsAuthenticateWithACertificate(CapturedOutput output) throws IOException {
    try (Scenario scenario = scenario(certificatePort);
        Service service = scenario.startService(byCertificate())) {
      service.awaitReady(true);
      OrderFlow.assertOnlyUnpaidOrdersAreCancelled(scenario);
    }
    Secrets.of(Secrets.lineOf(client)).assertNotIn(output);
  }

  @Test
  void aRejectedPasswordIsReportedAndRetried(CapturedOutput output) throws IOException {
    String password = password();
    try (Scenario scenario = scenario(passwordPort)) {
      changePassword(scenario, password());
      try (Service service = scenario.startService(byPassword(authority, password))) {
        awaitReported(service, output, "invalid credentials with SASL mechanism SCRAM-SHA-512");

        changePassword(scenario, password);

        service.awaitReady(true);
        OrderFlow.assertOnlyUnpaidOrdersAreCancelled(scenario);
      }
    }
    Secrets.of(password).assertNotIn(output);
  }

  @Test
  void aPasswordThatIsRejectedLaterIsReportedAndRetried(CapturedOutput output) throws IOException {
    String password = password();
    try (Scenario scenario = scenario(passwordPort)) {
      changePassword(scenario, password);
      try (Service service = scenario.startService(byPassword(authority, password))) {
        service.awaitReady(true);
        changePassword(scenario, password());
        // Existing connections stay authenticated until they are closed.
        kafka.stop();
        kafka.start();
        awaitReported(service, output, "invalid credentials with SASL mechanism SCRAM-SHA-512");

        changePassword(scenario, password);

        service.awaitReady(true);
        OrderFlow.assertOnlyUnpaidOrdersAreCancelled(scenario);
      }
    }
    Secrets.of(password).assertNotIn(output);
  }

  @Test
  void aBrokerOfAnUnknownAuthorityIsNotTrusted(CapturedOutput output) throws Exception {
    String password = password();
    CertificateAuthority another = CertificateAuthority.create("another");
    try (Scenario scenario = scenario(passwordPort)) {
      changePassword(scenario, password);
      try (Service service = scenario.startService(byPassword(another, password))) {
        awaitReported(service, output, "unable to find valid certification path");
      }
    }
    Secrets.of(password).assertNotIn(output);
  }

  @Test
  void aClientWithoutACertificateIsRejected(CapturedOutput output) throws IOException {
    try (Scenario scenario = scenario(certificatePort);
        Service service = scenario.startService(trusting(authority, "SSL"))) {
      awaitReported(service, output, "failed authentication due to");
    }
  }

  /** Waits until the service reports the failure in its log and its health. */
  private static void awaitReported(Service service, CapturedOutput output, String words) {
    await("the log").atMost(PATIENCE).until(() -> output.getAll().contains(words));
    await("health")
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(service.health()).contains("\"kafka\"", "Authentication"));
    assertThat(service.isReady()).isFalse();
  }

  private static Scenario scenario(int port) {
    return Scenario.on(
        open,
        new TestEnvironment("127.0.0.1:" + port, open.jdbcUrl(), open.username(), open.password()));
  }

  private static String[] byPassword(CertificateAuthority trusted, String password)
      throws IOException {
    return settings(
        trusting(trusted, "SASL_SSL"),
        "spring.kafka.properties.sasl.mechanism",
        "SCRAM-SHA-512",
        "spring.kafka.properties.sasl.jaas.config",
        "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"%s\" password=\"%s\";"
            .formatted(USER, password));
  }

  private static String[] byCertificate() throws IOException {
    Path certificate = directory.resolve("client.crt");
    Path key = directory.resolve("client.key");
    Files.writeString(certificate, client.getCertificatePathPEM());
    Files.writeString(key, client.getPrivateKeyPEM());
    return settings(
        trusting(authority, "SSL"),
        "spring.ssl.bundle.pem.kafka.keystore.certificate",
        "file:" + certificate,
        "spring.ssl.bundle.pem.kafka.keystore.private-key",
        "file:" + key);
  }

  private static String[] trusting(CertificateAuthority trusted, String protocol)
      throws IOException {
    return new String[] {
      "spring.kafka.security.protocol",
      protocol,
      "spring.kafka.ssl.bundle",
      "kafka",
      "spring.ssl.bundle.pem.kafka.truststore.certificate",
      "file:" + trusted.certificateIn(directory)
    };
  }

  private static String[] settings(String[] first, String... more) {
    return Stream.concat(Stream.of(first), Stream.of(more)).toArray(String[]::new);
  }

  /** Changes the password that the broker expects. */
  private static void changePassword(Scenario scenario, String password) {
    Scenario.get(
        scenario
            .admin()
            .alterUserScramCredentials(
                List.of(
                    new UserScramCredentialUpsertion(
                        USER,
                        new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096),
                        password)))
            .all());
  }

  private static String password() {
    return UUID.randomUUID().toString();
  }

  private static Map<String, String> with(Map<String, String> some, Map<String, String> more) {
    return Stream.of(some, more)
        .flatMap(settings -> settings.entrySet().stream())
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }
}
