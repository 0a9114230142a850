package io.ordertimeout.it.support;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.springframework.util.FileSystemUtils;

/** A server of the machine that a test runs with a configuration of its own. */
final class Daemon implements AutoCloseable {

  private final Path folder;
  private final ChildProcess process;

  private Daemon(Path folder, ChildProcess process) {
    this.folder = folder;
    this.process = process;
  }

  /** Returns a folder for its files, which every user may read. */
  static Path folder(String name) {
    try {
      return Files.createTempDirectory(
          name, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts it, and returns when it accepts connections at the port. */
  static Daemon start(Path folder, int port, List<String> command) {
    String log = folder.getFileName().toString();
    Daemon daemon = new Daemon(folder, ChildProcess.start(log, command));
    try {
      await("a connection; log: " + ChildProcess.log(log))
          .until(() -> !daemon.process.isAlive() || accepts(port));
      if (!daemon.process.isAlive()) {
        throw new IllegalStateException("ended at its start; log: " + ChildProcess.log(log));
      }
      return daemon;
    } catch (RuntimeException e) {
      daemon.close();
      throw e;
    }
  }

  private static boolean accepts(int port) {
    try (Socket connection = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return connection.isConnected();
    } catch (IOException e) {
      return false;
    }
  }

  /** Stops it and deletes its folder. */
  @Override
  public void close() {
    process.stop(Duration.ofSeconds(10));
    try {
      FileSystemUtils.deleteRecursively(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
