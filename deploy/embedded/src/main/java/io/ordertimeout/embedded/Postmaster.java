package io.ordertimeout.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What the file {@code postmaster.pid} says of the server process that wrote it. The file outlives
 * a process that is killed, and its process id may since have been given to another program.
 */
record Postmaster(long pid, Instant startedAt) {
  static final String FILE = "postmaster.pid";

  /** Two clocks tell the start: the server's own, and that of the kernel since boot. */
  private static final Duration TOLERANCE = Duration.ofMinutes(1);

  enum State {
    GONE,
    ORPHAN,
    /** The process id belongs to another program by now. */
    RECYCLED
  }

  static Optional<Postmaster> of(Path dataDirectory) throws IOException {
    List<String> lines;
    try {
      lines = Files.readAllLines(dataDirectory.resolve(FILE));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
    try {
      // Lines: process id, data directory, start in seconds since 1970, port, …
      return Optional.of(
          new Postmaster(
              Long.parseLong(lines.get(0).trim()),
              Instant.ofEpochSecond(Long.parseLong(lines.get(2).trim()))));
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      throw new IOException("Cannot read " + dataDirectory.resolve(FILE) + ": " + lines, e);
    }
  }

  State state() {
    return ProcessHandle.of(pid)
        .filter(ProcessHandle::isAlive)
        .map(ProcessHandle::info)
        .map(info -> looksLikeOurs(info) ? State.ORPHAN : State.RECYCLED)
        .orElse(State.GONE);
  }

  private boolean looksLikeOurs(ProcessHandle.Info info) {
    boolean postgres =
        info.command()
            .map(command -> Path.of(command).getFileName().toString().startsWith("postgres"))
            .orElse(true);
    boolean sameStart =
        info.startInstant()
            .map(start -> Duration.between(start, startedAt).abs().compareTo(TOLERANCE) <= 0)
            .orElse(true);
    return postgres && sameStart;
  }
}
