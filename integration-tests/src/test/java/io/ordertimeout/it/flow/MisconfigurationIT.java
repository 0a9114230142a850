package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.LogCapture;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;

/** Wrong settings end the start, and say in words which one, what follows and what to do. */
@ExtendWith(LogCapture.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MisconfigurationIT {

  private static final String SECRET = "not-the-password";

  private final Scenario scenario = Scenario.create();

  @BeforeAll
  void createUserWithoutRights() {
    scenario
        .database()
        .execute("create role %s login password '%s'".formatted(limitedUser(), SECRET));
  }

  @AfterAll
  void dropAll() {
    scenario.database().execute("drop role " + limitedUser());
    scenario.close();
  }

  @Test
  void rejectedLogInIsReported(CapturedOutput output) {
    assertRefused(
        output,
        "Postgres rejects the log-in of spring.datasource.username=" + limitedUser(),
        "Correct spring.datasource.username and spring.datasource.password",
        "spring.datasource.username",
        limitedUser(),
        "spring.datasource.password",
        SECRET + "-either");
  }

  @Test
  void missingTableRightsAreReported(CapturedOutput output) {
    assertRefused(
        output,
        "The Postgres user of spring.datasource.username=" + limitedUser() + " lacks a privilege",
        "Make this user the owner of the service's schema and tables",
        "spring.datasource.username",
        limitedUser(),
        "spring.datasource.password",
        SECRET);
  }

  @Test
  void unknownDatabaseIsReported(CapturedOutput output) {
    assertRefused(
        output,
        "spring.datasource.url names an unknown database",
        "Create the database, or correct its name in spring.datasource.url.",
        "spring.datasource.url",
        Database.url(scenario.database().url(), "nowhere"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:postgresql://localhost:port/orders?password=" + SECRET,
        "jdbc:postgresql://orders:" + SECRET + "@localhost:5432/orders",
        "jdbc:postgresql://localhost:" + SECRET + "/orders",
        "jdbc:mysql://localhost/orders?password=" + SECRET
      })
  void malformedUrlIsReportedWithoutItsPassword(String url, CapturedOutput output) {
    assertRefused(
        output,
        "spring.datasource.url is not a URL of Postgres",
        "Write spring.datasource.url as jdbc:postgresql://host:5432/database",
        "spring.datasource.url",
        url);
  }

  @Test
  void malformedDurationIsReportedWithTheRightForm(CapturedOutput output) {
    assertRefused(
        output,
        "order-timeout.expiry.retry-delay is '5 minuts', which is not a duration",
        "such as 500ms, 30s, 5m, 2h or 7d",
        "order-timeout.expiry.retry-delay",
        "5 minuts");
  }

  @Test
  void missingFileOfKafkaIsReported(CapturedOutput output) {
    assertRefused(
        output,
        "No client of Kafka can be created with these settings",
        "Correct spring.kafka.*",
        "spring.kafka.properties.security.protocol",
        "SSL",
        "spring.kafka.properties.ssl.truststore.location",
        "/nowhere/truststore.jks");
    assertThat(output.getAll()).contains("/nowhere/truststore.jks");
  }

  @Test
  void missingFileOfPostgresIsReportedWhileTheServiceWaits(CapturedOutput output) {
    String url = scenario.database().url();
    assertWaits(
        output,
        "this instance waits for them",
        "spring.datasource.url",
        url + (url.contains("?") ? "&" : "?") + "sslmode=verify-full&sslrootcert=/nowhere/ca.pem");
  }

  @Test
  void unreachablePostgresIsReportedWhileTheServiceWaits(CapturedOutput output) {
    assertWaits(
        output,
        "Connection to localhost:1 refused",
        "spring.datasource.url",
        "jdbc:postgresql://localhost:1/orders");
  }

  @Test
  void unreachableKafkaIsReportedWhileTheServiceWaits(CapturedOutput output) {
    assertWaits(
        output,
        "No order is read, stored or cancelled until Kafka (localhost:1)",
        "spring.kafka.bootstrap-servers",
        "localhost:1",
        "spring.kafka.properties.default.api.timeout.ms",
        "2000",
        "spring.kafka.properties.request.timeout.ms",
        "1000");
  }

  @Test
  void readOnlyPostgresIsReportedWhileTheServiceWaits(CapturedOutput output) {
    assertWaits(
        output,
        "Postgres accepts no writes: spring.datasource.url leads to a standby",
        "spring.datasource.hikari.connection-init-sql",
        "set default_transaction_read_only = on");
  }

  /** As a pooler does that drops what a client has set for its session. */
  @ParameterizedTest
  @CsvSource({
    "set statement_timeout = 0, statement_timeout=0 instead of 45s",
    "set enable_seqscan = on, enable_seqscan=on instead of off"
  })
  void poolerThatDropsSettingsOfTheSessionIsReportedWhileTheServiceWaits(
      String dropping, String message, CapturedOutput output) {
    assertWaits(
        output,
        message + ". A connection pooler between drops them",
        "spring.datasource.hikari.connection-init-sql",
        dropping);
  }

  private void assertWaits(CapturedOutput output, String message, String... settings) {
    try (Service waiting = scenario.startService(settings)) {
      assertThat(output.getAll()).contains("No order is read, stored or cancelled", message);
      assertThat(waiting.ownedShards()).isZero();
    }
    assertThat(output.getAll()).doesNotContain("\n\tat ", SECRET);
  }

  private void assertRefused(
      CapturedOutput output, String description, String action, String... settings) {
    assertThatThrownBy(() -> scenario.startService(settings)).isInstanceOf(Exception.class);
    assertThat(output.getAll())
        .contains("APPLICATION FAILED TO START", description, action)
        .doesNotContain("\n\tat ", SECRET);
  }

  private String limitedUser() {
    return scenario.name() + "_limited";
  }
}
