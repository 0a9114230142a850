package io.ordertimeout.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StandbyTest {

  @TempDir private Path directory;

  @Test
  void standbyReceivesCommitsAndAcceptsWritesOnceItIsPromoted() throws IOException, SQLException {
    try (EmbeddedPostgres primary = new EmbeddedPostgres(directory.resolve("primary"), 0)) {
      primary.start();
      execute(primary, "create table kept (what text)");
      try (EmbeddedPostgres standby =
          primary.standby(directory.resolve("standby"), primary.port())) {
        standby.start();
        // From here on, commits wait until the standby has applied them.
        execute(primary, "alter system set synchronous_standby_names = '*'");
        execute(primary, "select pg_reload_conf()");
        try (Connection connection = connect(primary);
            Statement statement = connection.createStatement()) {
          statement.execute("set synchronous_commit = remote_apply");
          statement.execute("insert into kept values ('one')");
          awaitSynchronous(statement);
          statement.execute("insert into kept values ('two')");
        }
        assertThat(count(standby)).isEqualTo("2");
        assertThatThrownBy(() -> execute(standby, "insert into kept values ('three')"))
            .isInstanceOf(SQLException.class)
            .hasMessageContaining("read-only");

        primary.crash();
        standby.promote();

        execute(standby, "alter system reset synchronous_standby_names");
        execute(standby, "select pg_reload_conf()");
        execute(standby, "insert into kept values ('three')");
        assertThat(count(standby)).isEqualTo("3");
      }
    }
  }

  private static void awaitSynchronous(Statement statement) throws SQLException {
    statement.execute(
        """
        do $$ begin
          for i in 1..600 loop
            exit when exists (select from pg_stat_replication where sync_state = 'sync');
            perform pg_sleep(0.1);
            perform pg_stat_clear_snapshot();
          end loop;
        end $$
        """);
  }

  @Test
  void copyOfAStoppedServerHasItsData() throws IOException, SQLException {
    try (EmbeddedPostgres original = new EmbeddedPostgres(directory.resolve("original"), 0)) {
      original.start();
      execute(original, "create table kept as select 'one' as what");
      assertThatThrownBy(() -> original.copy(directory.resolve("early")))
          .isInstanceOf(IllegalStateException.class);
      original.crash();

      try (EmbeddedPostgres copy = original.copy(directory.resolve("copy"))) {
        original.start();
        execute(original, "insert into kept values ('two')");
        copy.start();

        assertThat(count(copy)).isEqualTo("1");
        assertThat(count(original)).isEqualTo("2");
      }
    }
  }

  private static String count(EmbeddedPostgres postgres) throws SQLException {
    try (Connection connection = connect(postgres);
        Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery("select count(*) from kept")) {
      result.next();
      return result.getString(1);
    }
  }

  private static void execute(EmbeddedPostgres postgres, String sql) throws SQLException {
    try (Connection connection = connect(postgres);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static Connection connect(EmbeddedPostgres postgres) throws SQLException {
    return DriverManager.getConnection(
        postgres.jdbcUrl(), EmbeddedPostgres.NAME, postgres.password());
  }
}
