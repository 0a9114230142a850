package io.ordertimeout.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;

/**
 * A copy of the data of a running server, made as {@code pg_basebackup} does. The copy contains no
 * WAL: it has to receive that from the server.
 */
final class BaseBackup {

  /** What belongs to the running server alone. */
  private static final Set<String> EXCLUDED_FILES =
      Set.of(PostmasterPid.FILE, "postmaster.opts", "pg_internal.init");

  private static final Set<String> EXCLUDED_CONTENTS =
      Set.of(
          "pg_wal",
          "pg_replslot",
          "pg_dynshmem",
          "pg_notify",
          "pg_serial",
          "pg_snapshots",
          "pg_stat_tmp",
          "pg_subtrans");

  private BaseBackup() {}

  /**
   * @param connection of a superuser; the backup ends with it
   * @param target does not exist yet
   */
  static void copy(Connection connection, Path data, Path target) throws SQLException, IOException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("select pg_backup_start('standby', fast => true)");
      Directories.copy(data, target, BaseBackup::isIncluded);
      try (ResultSet stopped =
          statement.executeQuery(
              "select labelfile from pg_backup_stop(wait_for_archive => false)")) {
        stopped.next();
        Files.writeString(target.resolve("backup_label"), stopped.getString(1));
      }
    }
  }

  private static boolean isIncluded(Path file) {
    String name = file.getFileName().toString();
    return !EXCLUDED_FILES.contains(name)
        && !name.startsWith("pgsql_tmp")
        && !EXCLUDED_CONTENTS.contains(file.getName(0).toString());
  }
}
