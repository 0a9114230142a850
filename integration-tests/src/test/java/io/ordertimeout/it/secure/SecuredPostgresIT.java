package io.ordertimeout.it.secure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.pkitesting.X509Bundle;
import io.ordertimeout.it.rig.Service;
import io.ordertimeout.it.rig.Stage;
import io.ordertimeout.it.rig.TestPlatform;
import io.ordertimeout.local.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Postgres by TLS, of which the service checks who it is. */
@ExtendWith(OutputCaptureExtension.class)
class SecuredPostgresIT {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir private static Path directory;

  private static Authority authority;
  private static EmbeddedPostgres postgres;
  private static TestPlatform open;

  @BeforeAll
  static void start() throws Exception {
    authority = Authority.create("authority");
    X509Bundle server = authority.server();
    postgres =
        new EmbeddedPostgres(
            directory.resolve("postgres"),
            0,
            new EmbeddedPostgres.Identity(
                server.getCertificatePathPEM(), server.getPrivateKeyPEM()));
    postgres.start();
    open =
        new TestPlatform(
            TestPlatform.shared().bootstrapServers(),
            postgres.jdbcUrl(),
            EmbeddedPostgres.NAME,
            postgres.password());
  }

  @AfterAll
  static void stop() throws IOException {
    postgres.close();
  }

  @Test
  void allConnectionsAreByTls(CapturedOutput output) throws IOException {
    String password = password();
    try (Stage stage = stage(open.jdbcUrl(), authority)) {
      letIn(stage, password);
      try (Service service = stage.startService(as(stage, password))) {
        service.awaitReady(true);
        Orders.assertUnpaidOnesAloneAreCancelled(stage);
        assertThat(
                stage
                    .database()
                    .query(
                        """
                        select ssl from pg_stat_activity join pg_stat_ssl using (pid)
                        where usename = '%s'
                        """
                            .formatted(stage.name()),
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
        Authority.create("another"),
        "unable to find valid certification path",
        output);
  }

  @Test
  void aPostgresOfAnotherNameIsNotTrusted(CapturedOutput output) throws IOException {
    assertIsNotTrusted(
        open.jdbcUrl().replace("127.0.0.1", "localhost"),
        authority,
        "hostname localhost could not be verified",
        output);
  }

  private static void assertIsNotTrusted(
      String url, Authority trusted, String words, CapturedOutput output) throws IOException {
    String password = password();
    try (Stage stage = stage(url, trusted)) {
      letIn(stage, password);
      try (Service service = stage.startService(as(stage, password))) {
        awaitWords(service, output, words);
      }
    }
    Secrets.of(password).assertNotIn(output);
  }

  @Test
  void aPasswordThatIsRefusedEndsTheStart(CapturedOutput output) throws IOException {
    String password = password();
    try (Stage stage = stage(open.jdbcUrl(), authority)) {
      letIn(stage, password());

      assertThatThrownBy(() -> stage.startService(as(stage, password)))
          .rootCause()
          .hasMessageContaining("password authentication failed for user");
    }
    Secrets.of(password).assertNotIn(output);
  }

  @Test
  void aPasswordThatIsRefusedLaterIsTriedUntilItIsTaken(CapturedOutput output) throws IOException {
    String password = password();
    try (Stage stage = stage(open.jdbcUrl(), authority)) {
      letIn(stage, password);
      try (Service service = stage.startService(as(stage, password))) {
        service.awaitReady(true);
        expect(stage, password());
        stage
            .database()
            .execute(
                "do $$ begin perform pg_terminate_backend(pid) from pg_stat_activity"
                    + " where usename = '%s'; end $$".formatted(stage.name()));
        awaitWords(service, output, "password authentication failed for user");

        expect(stage, password);

        service.awaitReady(true);
        Orders.assertUnpaidOnesAloneAreCancelled(stage);
      }
    }
    Secrets.of(password).assertNotIn(output);
  }

  /** Waits until the service has said it in its log, and says in its health that it waits. */
  private static void awaitWords(Service service, CapturedOutput output, String words) {
    await("words of the log").atMost(PATIENCE).until(() -> output.getAll().contains(words));
    service.awaitReady(false);
    assertThat(service.health()).contains("\"db\"");
  }

  /** A stage whose services come by TLS and check who Postgres is. */
  private static Stage stage(String url, Authority trusted) throws IOException {
    return Stage.on(
        open,
        new TestPlatform(
            open.bootstrapServers(),
            url + "?sslmode=verify-full&sslrootcert=" + trusted.certificateIn(directory),
            open.username(),
            open.password()));
  }

  /** Gives the service a user of its own, so that its password can change and the rig's cannot. */
  private static void letIn(Stage stage, String password) {
    String user = stage.name();
    stage.database().execute("create role %s login password '%s'".formatted(user, password));
    stage.database().execute("alter database %s owner to %s".formatted(stage.name(), user));
  }

  /** Makes Postgres expect another password of whoever connects from now on. */
  private static void expect(Stage stage, String password) {
    stage.database().execute("alter role %s password '%s'".formatted(stage.name(), password));
  }

  private static String[] as(Stage stage, String password) {
    return new String[] {
      "spring.datasource.username", stage.name(), "spring.datasource.password", password
    };
  }

  private static String password() {
    return UUID.randomUUID().toString();
  }
}
