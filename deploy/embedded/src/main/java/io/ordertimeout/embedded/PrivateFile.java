package io.ordertimeout.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;

/** Writes files that only their owner can read. */
final class PrivateFile {

  private PrivateFile() {}

  /** Writes the file atomically. */
  static void write(Path file, String content) throws IOException {
    Path unfinished =
        PostgresBinaries.isWindows()
            ? Files.createTempFile(file.getParent(), "unfinished", null)
            : Files.createTempFile(
                file.getParent(),
                "unfinished",
                null,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(unfinished, content);
    Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
  }
}
