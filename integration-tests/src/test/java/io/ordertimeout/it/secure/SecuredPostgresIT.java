package io.ordertimeout.it.secure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.pkitesting.X509Bundle;
import io.ordertimeout.embedded.EmbeddedPostgres;
import io.ordertimeout.it.support.LogCapture;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.TestEnvironment;
import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.system.CapturedOutput;

/** Postgres over TLS, whose certificate the service verifies. */
@Tag("faults")
@ExtendWith(LogCapture.class)
@Order(25)
class SecuredPostgresIT {

  private static final String REJECTED = "password authentication failed for user";
  @TempDir private static Path directory;

  private static CertificateAuthority authority;
  private static EmbeddedPostgres postgres;
  private static TestEnvironment open;

  @BeforeAll
  static void start() throws Exception {
    authority = CertificateAuthority.create("authority");
    X509Bundle server = authority.server();
    postgres =
        new EmbeddedPostgres(
            directory.resolve("postgres"),
            0,
            new EmbeddedPostgres.Identity(
                server.getCertificatePathPEM(), server.getPrivateKeyPEM()));
    postgres.start();
    open =
        new TestEnvironment(
            TestEnvironment.shared().bootstrapServers(),
            postgres.jdbcUrl(),
            EmbeddedPostgres.NAME,
            postgres.password());
  }

  @AfterAll
  static void stop() throws IOException {
    postgres.close();
  }

  @Test
  void allConnectionsUseTls(CapturedOutput output) throws IOException {
    String password = password();
    try (Scenario scenario = scenario(open.jdbcUrl(), authority)) {
      createUser(scenario, password);
      try (Service service = scenario.startService(as(scenario, password))) {
        service.awaitReady(true);
        OrderFlow.assertOnlyUnpaidOrdersAreCancelled(scenario);
        assertThat(
                scenario
                    .database()
                    .query(
                        """
                        select ssl from pg_stat_activity join pg_stat_ssl using (pid)
                        where usename = '%s'
                        """
                            .formatted(scenario.name()),
                        (row, number) -> row.getBoolean(1)))
            .isNotEmpty()
            .containsOnly(true);
      }
    }
    Secrets.of(password).assertNotIn(output);
  }

  @Test
  void aPostgresOfAnUnknownAuthorityIsNotTrusted(CapturedOutput output) throws Exception {
    assertIsNotTrusted(
        open.jdbcUrl(),
        CertificateAuthority.create("another"),
        "unable to find valid certification path",
        output);
  }

  @Test
  void aPostgresWithAnotherHostNameIsNotTrusted(CapturedOutput output) throws IOException {
    assertIsNotTrusted(
        open.jdbcUrl().replace("127.0.0.1", "localhost"),
        authority,
        "hostname localhost could not be verified",
        output);
  }

  private static void assertIsNotTrusted(
      String url, CertificateAuthority trusted, String words, CapturedOutput output)
      throws IOException {
    String password = password();
    try (Scenario scenario = scenario(url, trusted)) {
      createUser(scenario, password);
      try (Service service = scenario.startService(as(scenario, password))) {
        awaitReported(service, output, words);
      }
    }
    Secrets.of(password).assertNotIn(output);
  }

  @Test
  void aPasswordThatIsRejectedAtTheStartEndsIt(CapturedOutput output) throws IOException {
    String password = password();
    try (Scenario scenario = scenario(open.jdbcUrl(), authority)) {
      createUser(scenario, password());

      assertThatThrownBy(() -> scenario.startService(as(scenario, password)))
          .rootCause()
          .hasMessageContaining(REJECTED);
    }
    Secrets.of(password).assertNotIn(output);
  }

  @Test
  void aPasswordThatIsRejectedLaterIsReportedAndRetried(CapturedOutput output) throws IOException {
    String password = password();
    try (Scenario scenario = scenario(open.jdbcUrl(), authority)) {
      createUser(scenario, password);
      try (Service service = scenario.startService(as(scenario, password))) {
        service.awaitReady(true);
        changePassword(scenario, password());
        // Also those that were being opened with the old password.
        await("a rejected connection")
            .until(
                () -> {
                  endConnections(scenario);
                  return output.getAll().contains(REJECTED);
                });
        awaitReported(service, output, REJECTED);

        changePassword(scenario, password);

        service.awaitReady(true);
        OrderFlow.assertOnlyUnpaidOrdersAreCancelled(scenario);
      }
    }
    Secrets.of(password).assertNotIn(output);
  }

  private static void endConnections(Scenario scenario) {
    scenario
        .database()
        .execute(
            "do $$ begin perform pg_terminate_backend(pid) from pg_stat_activity"
                + " where usename = '%s'; end $$".formatted(scenario.name()));
  }

  /** Waits until the service reports the failure in its log and its health. */
  private static void awaitReported(Service service, CapturedOutput output, String words) {
    await("words of the log").until(() -> output.getAll().contains(words));
    service.awaitReady(false);
    assertThat(service.health()).contains("\"db\"");
  }

  /** Creates a scenario whose services connect over TLS and verify the certificate. */
  private static Scenario scenario(String url, CertificateAuthority trusted) throws IOException {
    return Scenario.on(
        open,
        new TestEnvironment(
            open.bootstrapServers(),
            url + "?sslmode=verify-full&sslrootcert=" + trusted.certificateIn(directory),
            open.username(),
            open.password()));
  }

  /** Gives the service a database user of its own, whose password the test can change. */
  private static void createUser(Scenario scenario, String password) {
    String user = scenario.name();
    scenario.database().execute("create role %s login password '%s'".formatted(user, password));
    scenario.database().execute("alter database %s owner to %s".formatted(scenario.name(), user));
    // The service creates its tables as this user.
    scenario.database().execute("drop schema public cascade");
    scenario.database().execute("create schema public authorization " + user);
  }

  /** Changes the password that Postgres expects of new connections. */
  private static void changePassword(Scenario scenario, String password) {
    scenario.database().execute("alter role %s password '%s'".formatted(scenario.name(), password));
  }

  private static String[] as(Scenario scenario, String password) {
    return new String[] {
      "spring.datasource.username", scenario.name(), "spring.datasource.password", password
    };
  }

  private static String password() {
    return UUID.randomUUID().toString();
  }
}
