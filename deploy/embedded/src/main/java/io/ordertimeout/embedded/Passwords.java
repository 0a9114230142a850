package io.ordertimeout.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;

/** Random passwords, generated once and kept in files. */
public final class Passwords {

  private static final int BYTES = 16;

  private Passwords() {}

  /**
   * Returns the password in the file, which only its owner can read; creates it if it is missing.
   */
  public static String loadOrCreate(Path file) {
    try {
      if (!Files.exists(file)) {
        create(file);
      }
      return Files.readString(file).strip();
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot read or create the password file " + file, e);
    }
  }

  private static void create(Path file) throws IOException {
    byte[] random = new byte[BYTES];
    new SecureRandom().nextBytes(random);
    PrivateFile.write(file, HexFormat.of().formatHex(random));
  }
}
