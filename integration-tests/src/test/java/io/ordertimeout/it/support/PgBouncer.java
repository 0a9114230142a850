package io.ordertimeout.it.support;

import io.ordertimeout.embedded.Ports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** A PgBouncer of the machine in front of the Postgres of an environment. */
public final class PgBouncer implements AutoCloseable {

  private final TestEnvironment behind;
  private final Daemon daemon;
  private final int port;

  private PgBouncer(TestEnvironment behind, Daemon daemon, int port) {
    this.behind = behind;
    this.daemon = daemon;
    this.port = port;
  }

  /**
   * Starts it with a configuration.
   *
   * @param configuration all but the addresses and the file of users, which are replaced
   */
  public static PgBouncer start(String configuration, TestEnvironment behind) {
    int port = Ports.any();
    Path folder = Daemon.folder("pgbouncer");
    Path users = folder.resolve("userlist.txt");
    Path file = folder.resolve("pgbouncer.ini");
    URI postgres = URI.create(behind.jdbcUrl().substring("jdbc:".length()));
    try {
      Files.writeString(users, "\"%s\" \"%s\"\n".formatted(behind.username(), behind.password()));
      Files.writeString(
          file,
          replace(
              configuration,
              "(?m)^\\w+ = host=.*$",
              "* = host=" + postgres.getHost() + " port=" + postgres.getPort(),
              "(?m)^listen_addr = .*$",
              "listen_addr = 127.0.0.1",
              "(?m)^listen_port = .*$",
              "listen_port = " + port + "\nunix_socket_dir =",
              "(?m)^auth_file = .*$",
              "auth_file = " + users));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    List<String> command = new ArrayList<>();
    command.add(Programs.path("pgbouncer", "pgbouncer").toString());
    // It refuses to run as root.
    if ("root".equals(System.getProperty("user.name"))) {
      command.addAll(List.of("-u", "nobody"));
    }
    command.add(file.toString());
    return new PgBouncer(behind, Daemon.start(folder, port, command), port);
  }

  private static String replace(String text, String... patternsAndReplacements) {
    String replaced = text;
    for (int i = 0; i < patternsAndReplacements.length; i += 2) {
      Pattern pattern = Pattern.compile(patternsAndReplacements[i]);
      if (!pattern.matcher(replaced).find()) {
        throw new IllegalArgumentException("Without " + pattern + ":\n" + text);
      }
      replaced = pattern.matcher(replaced).replaceFirst(patternsAndReplacements[i + 1]);
    }
    return replaced;
  }

  /** The environment whose Postgres is reached through it. */
  public TestEnvironment environment() {
    return new TestEnvironment(
        behind.bootstrapServers(),
        behind.jdbcUrl().replaceFirst("//[^/]+/", "//127.0.0.1:" + port + "/"),
        behind.username(),
        behind.password());
  }

  @Override
  public void close() {
    daemon.close();
  }
}
