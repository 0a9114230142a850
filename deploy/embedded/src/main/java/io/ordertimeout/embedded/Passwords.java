package io.ordertimeout.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;

/** Passwords that are made at random once, and then stay. */
public final class Passwords {

  private static final int BYTES = 16;

  private Passwords() {}

  /** The password in the file, which only its owner can read; made now if it is not there. */
  public static String in(Path file) {
    try {
      if (!Files.exists(file)) {
        create(file);
      }
      return Files.readString(file).strip();
    } catch (IOException e) {
      throw new UncheckedIOException("No password can be kept in " + file, e);
    }
  }

  private static void create(Path file) throws IOException {
    byte[] random = new byte[BYTES];
    new SecureRandom().nextBytes(random);
    PrivateFile.write(file, HexFormat.of().formatHex(random));
  }
}
