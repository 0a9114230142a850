package io.ordertimeout.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EmbeddedPostgresTest {
  @TempDir private static Path directory;

  private EmbeddedPostgres postgres;

  @BeforeEach
  void start() throws IOException {
    postgres = new EmbeddedPostgres(directory, 0);
    postgres.start();
  }

  @AfterEach
  void stop() throws IOException {
    postgres.close();
  }

  @ParameterizedTest
  @CsvSource({
    "fsync, on",
    "synchronous_commit, on",
    "full_page_writes, on",
    "listen_addresses, 127.0.0.1",
    "server_encoding, UTF8"
  })
  void isDurableAndLocal(String setting, String value) throws SQLException {
    assertThat(query("show " + setting)).isEqualTo(value);
  }

  @Test
  void isVersion18() throws SQLException {
    assertThat(query("show server_version")).startsWith("18.");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void keepsCommittedData(boolean crash) throws IOException, SQLException {
    execute("drop table if exists kept");
    execute("create table kept as select 'here' as what");
    if (crash) {
      postgres.crash();
    } else {
      postgres.stop();
    }
    assertThatThrownBy(() -> query("select what from kept")).isInstanceOf(SQLException.class);
    postgres.start();
    assertThat(query("select what from kept")).isEqualTo("here");
  }

  @Test
  void protectsItsPassword() throws IOException {
    Path file = directory.resolve("password");
    assertThat(Files.readString(file)).isEqualTo(postgres.password()).hasSize(32);
    if (!PostgresBinaries.isWindows()) {
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
          .isEqualTo("rw-------");
    }
    assertThatThrownBy(
            () -> DriverManager.getConnection(postgres.jdbcUrl(), EmbeddedPostgres.NAME, "wrong"))
        .isInstanceOf(SQLException.class)
        .hasMessageContaining("password authentication failed");
  }

  @Test
  void failureMessageContainsTheServerLog() throws IOException {
    postgres.stop();
    Path version = directory.resolve("data").resolve("PG_VERSION");
    Files.writeString(version, "9\n");
    try {
      assertThatThrownBy(postgres::start)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("database files are incompatible with server");
    } finally {
      Files.writeString(version, "18\n");
    }
  }

  private String query(String sql) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(sql)) {
      result.next();
      return result.getString(1);
    }
  }

  private void execute(String sql) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private Connection connect() throws SQLException {
    return DriverManager.getConnection(
        postgres.jdbcUrl(), EmbeddedPostgres.NAME, postgres.password());
  }
}
