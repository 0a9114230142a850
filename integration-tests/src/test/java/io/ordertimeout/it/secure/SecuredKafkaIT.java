package io.ordertimeout.it.secure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.pkitesting.X509Bundle;
import io.ordertimeout.embedded.EmbeddedKafka;
import io.ordertimeout.embedded.Ports;
import io.ordertimeout.it.kubernetes.Chart;
import io.ordertimeout.it.support.KafkaAdmin;
import io.ordertimeout.it.support.LogCapture;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.TestEnvironment;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.system.CapturedOutput;
import tools.jackson.databind.JsonNode;

/**
 * Kafka over TLS, with password or certificate authentication. The service knows no other address,
 * so each of its clients has to use the settings; and it has only the rights that the chart for
 * Kubernetes grants it.
 */
@Tag("faults")
@ExtendWith(LogCapture.class)
@Order(25)
class SecuredKafkaIT {

  private static final String USER = "order-timeout";
  private static final String JAAS_CONFIG =
      "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"%s\" password=\"%s\";";

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
  void aUserWithoutRightsIsReportedAndWorksOnceItHasThem(CapturedOutput output) throws IOException {
    String password = password();
    try (Scenario scenario = withoutRights(passwordPort)) {
      changePassword(scenario, password);
      try (Service service = scenario.startService(byPassword(authority, password))) {
        await("the log").until(() -> output.getAll().contains("TopicAuthorizationException"));
        assertThat(service.isReady()).isFalse();

        grantRights(scenario);

        service.awaitReady(true);
        OrderFlow.assertOnlyUnpaidOrdersAreCancelled(scenario);
      }
    }
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
    await("the log").until(() -> output.getAll().contains(words));
    await("health")
        .untilAsserted(() -> assertThat(service.health()).contains("\"kafka\"", "Authentication"));
    assertThat(service.isReady()).isFalse();
  }

  @Test
  void theChartsConfigurationConnectsWithAPassword(CapturedOutput output) throws IOException {
    String password = password();
    try (Scenario scenario = scenario(passwordPort)) {
      changePassword(scenario, password);
      try (Service service =
          scenario.startService(
              byChart(
                  Map.of("kafka.tls.caSecret", "ca", "kafka.sasl.existingSecret", "user"),
                  Map.of("kafka-ca/ca.crt", authority.certificateIn(directory)),
                  "spring.kafka.properties.sasl.jaas.config",
                  JAAS_CONFIG.formatted(USER, password)))) {
        service.awaitReady(true);
        OrderFlow.assertOnlyUnpaidOrdersAreCancelled(scenario);
      }
    }
    Secrets.of(password).assertNotIn(output);
  }

  @Test
  void theChartsConfigurationConnectsWithACertificate(CapturedOutput output) throws Exception {
    String password = password();
    Path keys = directory.resolve("user.p12");
    try (OutputStream file = Files.newOutputStream(keys)) {
      client.toKeyStore(password.toCharArray()).store(file, password.toCharArray());
    }
    try (Scenario scenario = scenario(certificatePort);
        Service service =
            scenario.startService(
                byChart(
                    Map.of("kafka.tls.caSecret", "ca", "kafka.tls.clientSecret", "user"),
                    Map.of(
                        "kafka-ca/ca.crt",
                        authority.certificateIn(directory),
                        "kafka-client/user.p12",
                        keys),
                    "spring.kafka.properties.ssl.keystore.password",
                    password))) {
      service.awaitReady(true);
      OrderFlow.assertOnlyUnpaidOrdersAreCancelled(scenario);
    }
    Secrets.of(password).assertNotIn(output);
  }

  /** The settings that the chart renders, with the mounted files elsewhere. */
  private static String[] byChart(
      Map<String, Object> values, Map<String, Path> files, String... secrets) {
    Map<String, Object> all = new HashMap<>(values);
    all.put("kafka.tls.enabled", true);
    Map<String, String> properties = Chart.render(all).properties();
    List<String> settings = new ArrayList<>(List.of("POD_NAME", "order-timeout-0"));
    properties.forEach(
        (name, value) -> {
          if (name.startsWith("spring.kafka.properties.") || name.startsWith("order-timeout.")) {
            settings.add(name);
            String replaced = value;
            for (Map.Entry<String, Path> file : files.entrySet()) {
              replaced = replaced.replace("/secrets/" + file.getKey(), file.getValue().toString());
            }
            settings.add(replaced);
          }
        });
    return settings(settings.toArray(String[]::new), secrets);
  }

  private static Scenario scenario(int port) {
    Scenario scenario = withoutRights(port);
    grantRights(scenario);
    return scenario;
  }

  private static Scenario withoutRights(int port) {
    return Scenario.on(
        open,
        new TestEnvironment("127.0.0.1:" + port, open.jdbcUrl(), open.username(), open.password()));
  }

  /** Grants both users what the chart's user of Kafka is granted. */
  private static void grantRights(Scenario scenario) {
    Map<String, Object> values = new HashMap<>();
    values.put("strimzi.user.enabled", true);
    values.put("strimzi.cluster", "shop");
    scenario.topics().settings().forEach((name, value) -> values.put("config." + name, value));
    values.put("config.order-timeout.intake.group-id", scenario.name());
    List<AclBinding> rights = new ArrayList<>();
    for (JsonNode acl : Chart.render(values).only("KafkaUser").at("/spec/authorization/acls")) {
      ResourcePattern resource =
          new ResourcePattern(
              ResourceType.fromString(acl.at("/resource/type").asString()),
              acl.at("/resource/name").asString(),
              acl.at("/resource/patternType").asString("").equals("prefix")
                  ? PatternType.PREFIXED
                  : PatternType.LITERAL);
      for (JsonNode operation : acl.path("operations")) {
        for (String user : List.of(USER, "CN=" + USER)) {
          rights.add(
              new AclBinding(
                  resource,
                  new AccessControlEntry(
                      "User:" + user,
                      "*",
                      operation(operation.asString()),
                      AclPermissionType.ALLOW)));
        }
      }
    }
    KafkaAdmin.get(scenario.kafka().client().createAcls(rights).all());
  }

  private static AclOperation operation(String strimzi) {
    return AclOperation.fromString(strimzi.replaceAll("([a-z])([A-Z])", "$1_$2"));
  }

  private static String[] byPassword(CertificateAuthority trusted, String password)
      throws IOException {
    return settings(
        trusting(trusted, "SASL_SSL"),
        "spring.kafka.properties.sasl.mechanism",
        "SCRAM-SHA-512",
        "spring.kafka.properties.sasl.jaas.config",
        JAAS_CONFIG.formatted(USER, password));
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
    KafkaAdmin.get(
        scenario
            .kafka()
            .client()
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
