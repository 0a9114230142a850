package io.ordertimeout.embedded;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tukaani.xz.XZInputStream;

/**
 * Postgres programs for this machine, unpacked from the class path once per user and version. A
 * directory gets its final name only when it is complete, so concurrent processes are safe.
 */
final class PostgresBinaries {
  private static final Logger log = LoggerFactory.getLogger(PostgresBinaries.class);

  /** The digests of the archives that this JVM has read, by name. */
  private static final Map<String, String> DIGESTS = new ConcurrentHashMap<>();

  private final Path directory;

  private PostgresBinaries(Path directory) {
    this.directory = directory;
  }

  Path program(String name) {
    return directory.resolve("bin").resolve(isWindows() ? name + ".exe" : name);
  }

  static PostgresBinaries unpack() throws IOException {
    String archive =
        archive(
            System.getProperty("os.name", ""),
            System.getProperty("os.arch", ""),
            Files.exists(Path.of("/etc/alpine-release")));
    Path cache =
        Path.of(System.getProperty("java.io.tmpdir"))
            .resolve("order-timeout-" + System.getProperty("user.name"));
    Files.createDirectories(cache);
    requireOwn(cache);
    Path directory = cache.resolve("postgres-" + digest(archive).substring(0, 16));
    if (!Files.exists(directory)) {
      log.info("Unpacking Postgres to {}", directory);
      unpack(archive, cache, directory);
    }
    return new PostgresBinaries(directory);
  }

  /** Returns the archive for the given values of {@code os.name} and {@code os.arch}. */
  static String archive(String system, String processor, boolean alpine) {
    String name = system.toLowerCase(Locale.ROOT);
    boolean arm = processor.equals("aarch64") || processor.equals("arm64");
    boolean intel = processor.equals("amd64") || processor.equals("x86_64");
    if (name.startsWith("mac") && (arm || intel)) {
      return "postgres-darwin-arm_64.txz"; // universal binaries
    }
    if (name.startsWith("windows") && (arm || intel)) {
      return "postgres-windows-x86_64.txz"; // runs under emulation on ARM
    }
    if (name.startsWith("linux") && intel) {
      return alpine ? "postgres-linux-x86_64-alpine_linux.txz" : "postgres-linux-x86_64.txz";
    }
    if (name.startsWith("linux") && arm && !alpine) {
      return "postgres-linux-arm_64.txz";
    }
    throw new IllegalStateException(
        "No embedded Postgres is available for "
            + system
            + (alpine ? " (Alpine)" : "")
            + " on "
            + processor
            + "; run the service against your own Postgres and Kafka");
  }

  static boolean isWindows() {
    return System.getProperty("os.name", "").startsWith("Windows");
  }

  private static InputStream open(String archive) throws IOException {
    InputStream stream = PostgresBinaries.class.getResourceAsStream("/" + archive);
    if (stream == null) {
      throw new IOException(
          archive
              + " is not on the class path; build with -P all-platforms for machines other than the"
              + " one that built this jar");
    }
    return stream;
  }

  private static String digest(String archive) throws IOException {
    String known = DIGESTS.get(archive);
    if (known != null) {
      return known;
    }
    try (InputStream stream = open(archive)) {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      byte[] buffer = new byte[1 << 16];
      for (int read = stream.read(buffer); read >= 0; read = stream.read(buffer)) {
        digest.update(buffer, 0, read);
      }
      String result = HexFormat.of().formatHex(digest.digest());
      DIGESTS.put(archive, result);
      return result;
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Rejects programs that another user planted in the shared temporary directory. */
  private static void requireOwn(Path cache) throws IOException {
    Path probe = Files.createTempFile(cache, "owner", null);
    boolean own;
    try {
      own = Files.getOwner(probe).equals(Files.getOwner(cache));
    } finally {
      Files.delete(probe);
    }
    if (!own) {
      throw new IOException("The directory " + cache + " belongs to another user");
    }
    if (Files.getFileAttributeView(cache, PosixFileAttributeView.class) != null) {
      Files.setPosixFilePermissions(cache, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
  }

  private static void unpack(String archive, Path cache, Path directory) throws IOException {
    Path unfinished = Files.createTempDirectory(cache, "unfinished");
    try {
      try (TarArchiveInputStream tar =
          new TarArchiveInputStream(
              new XZInputStream(new BufferedInputStream(open(archive), 1 << 16)))) {
        for (TarArchiveEntry entry = tar.getNextEntry();
            entry != null;
            entry = tar.getNextEntry()) {
          write(tar, entry, unfinished);
        }
      }
      if (!isWindows()) {
        Files.setPosixFilePermissions(unfinished, PosixFilePermissions.fromString("rwxr-xr-x"));
      }
      Files.move(unfinished, directory, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      if (!Files.exists(directory)) { // otherwise another process has unpacked it
        throw e;
      }
    } finally {
      Directories.delete(unfinished);
    }
  }

  private static void write(TarArchiveInputStream tar, TarArchiveEntry entry, Path root)
      throws IOException {
    Path target = root.resolve(entry.getName()).normalize();
    if (!target.startsWith(root)) {
      throw new IOException("Archive entry outside the target directory: " + entry.getName());
    }
    if (entry.isDirectory()) {
      Files.createDirectories(target);
      return;
    }
    Path parent = target.getParent();
    if (parent != null) {
      Files.createDirectories(parent);
    }
    if (entry.isSymbolicLink()) {
      Files.createSymbolicLink(target, Path.of(entry.getLinkName()));
    } else if (entry.isLink()) {
      Files.copy(root.resolve(entry.getLinkName()).normalize(), target);
    } else {
      Files.copy(tar, target);
      if (!isWindows()) {
        Files.setPosixFilePermissions(
            target,
            PosixFilePermissions.fromString(
                (entry.getMode() & 0100) != 0 ? "rwxr-xr-x" : "rw-r--r--"));
      }
    }
  }
}
