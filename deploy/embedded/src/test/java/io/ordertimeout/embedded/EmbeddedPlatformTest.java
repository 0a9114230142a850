package io.ordertimeout.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedPlatformTest {
  @TempDir private Path directory;

  @Test
  void dataSurvivesAKilledProcess() throws Exception {
    Process victim = fork(directory);
    PostmasterPid orphan;
    String url;
    try (BufferedReader output =
        new BufferedReader(
            new InputStreamReader(victim.getInputStream(), StandardCharsets.UTF_8))) {
      url = output.readLine();
      assertThat(url).startsWith("jdbc:postgresql:");
      orphan = PostmasterPid.read(directory.resolve("postgres/data")).orElseThrow();
      assertThatThrownBy(() -> EmbeddedPlatform.start(directory, 0, 0))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("in use by another process");
      victim.destroyForcibly();
      assertThat(victim.waitFor(10, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(orphan.state()).isEqualTo(PostmasterPid.State.ORPHAN);

    int port = URI.create(url.substring("jdbc:".length())).getPort();
    try (EmbeddedPlatform platform = EmbeddedPlatform.start(directory, 0, port)) {
      assertThat(platform.jdbcUrl()).isEqualTo(url);
      assertThat(query(platform, "select what from kept")).isEqualTo("here");
      try (Admin admin = admin(platform)) {
        assertThat(admin.listTopics().names().get()).contains("kept");
      }
    }
    assertThat(orphan.state()).isEqualTo(PostmasterPid.State.GONE);
  }

  @Test
  void replacesTakenPorts() throws Exception {
    try (ServerSocket one =
            new ServerSocket(0, 1, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
        ServerSocket two =
            new ServerSocket(0, 1, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
        EmbeddedPlatform platform =
            EmbeddedPlatform.start(directory, one.getLocalPort(), two.getLocalPort())) {
      assertThat(platform.bootstrapServers()).doesNotEndWith(":" + one.getLocalPort());
      assertThat(platform.jdbcUrl()).doesNotContain(":" + two.getLocalPort() + "/");
      assertThat(query(platform, "select 'up'")).isEqualTo("up");
      try (Admin admin = admin(platform)) {
        assertThat(admin.describeCluster().nodes().get()).hasSize(1);
      }
    }
  }

  @Test
  void deletesTemporaryData() throws Exception {
    Path data;
    try (EmbeddedPlatform platform = EmbeddedPlatform.startTemporary()) {
      data = platform.dataDirectory();
      assertThat(data).isDirectory();
      platform.stopPostgres();
      platform.stopPostgres();
      platform.stopKafka();
      platform.startKafka();
      platform.startPostgres();
      assertThat(query(platform, "select 'up'")).isEqualTo("up");
      platform.crashPostgres();
      platform.startPostgres();
      assertThat(query(platform, "select 'up again'")).isEqualTo("up again");
    }
    assertThat(data).doesNotExist();
  }

  @Test
  void releasesTheDirectoryAfterAFailedStart() throws IOException {
    Files.createDirectories(directory.resolve("postgres/data")); // no database
    for (int attempt = 0; attempt < 2; attempt++) {
      assertThatThrownBy(() -> EmbeddedPlatform.start(directory, 0, 0))
          .hasMessageContaining("pg_ctl failed");
    }
  }

  private static String query(EmbeddedPlatform platform, String sql) throws SQLException {
    try (Connection connection =
            DriverManager.getConnection(
                platform.jdbcUrl(), platform.username(), platform.password());
        Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(sql)) {
      result.next();
      return result.getString(1);
    }
  }

  private static Admin admin(EmbeddedPlatform platform) {
    return Admin.create(Map.of("bootstrap.servers", platform.bootstrapServers()));
  }

  private static Process fork(Path directory) throws IOException {
    return new ProcessBuilder(
            ProcessHandle.current().info().command().orElseThrow(),
            "-cp",
            System.getProperty("java.class.path"),
            Victim.class.getName(),
            directory.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** Stores data, prints the JDBC URL and waits to be killed. */
  static final class Victim {
    public static void main(String[] arguments) throws Exception {
      EmbeddedPlatform platform = EmbeddedPlatform.start(Path.of(arguments[0]), 0, 0);
      try (Admin admin = admin(platform)) {
        admin
            .createTopics(List.of(new NewTopic("kept", Optional.of(1), Optional.empty())))
            .all()
            .get();
      }
      try (Connection connection =
              DriverManager.getConnection(
                  platform.jdbcUrl(), platform.username(), platform.password());
          Statement statement = connection.createStatement()) {
        statement.execute("create table kept as select 'here' as what");
      }
      System.out.println(platform.jdbcUrl());
      new CountDownLatch(1).await();
    }
  }
}
