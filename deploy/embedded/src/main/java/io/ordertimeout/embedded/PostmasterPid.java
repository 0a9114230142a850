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
 * Contents of {@code postmaster.pid}: the server process that wrote the file. The file outlives a
 * killed server, and the operating system may have reassigned the process id since.
 */
record PostmasterPid(long pid, Instant startedAt) {
  static final String FILE = "postmaster.pid";

  /** Start times come from two clocks: the server's wall clock and the kernel's boot clock. */
  private static final Duration TOLERANCE = Duration.ofMinutes(1);

  enum State {
    /** The process has ended. */
    GONE,
    /** The server is still running. */
    ORPHAN,
    /** The process id now belongs to another program. */
    RECYCLED
  }

  static Optional<PostmasterPid> read(Path dataDirectory) throws IOException {
    List<String> lines;
    try {
      lines = Files.readAllLines(dataDirectory.resolve(FILE));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
    try {
      // Lines: process id, data directory, start in seconds since 1970, port, …
      return Optional.of(
          new PostmasterPid(
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
        .map(info -> matches(info) ? State.ORPHAN : State.RECYCLED)
        .orElse(State.GONE);
  }

  private boolean matches(ProcessHandle.Info info) {
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
