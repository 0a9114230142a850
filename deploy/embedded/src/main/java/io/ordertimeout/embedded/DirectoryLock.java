package io.ordertimeout.embedded;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Exclusive lock on a data directory, held by one process. The operating system releases it when
 * the process is killed, so a server that still runs on an unlocked directory is an orphan.
 */
final class DirectoryLock implements AutoCloseable {
  private final FileChannel channel;

  private DirectoryLock(FileChannel channel) {
    this.channel = channel;
  }

  static DirectoryLock acquire(Path directory) throws IOException {
    Files.createDirectories(directory);
    FileChannel channel =
        FileChannel.open(
            directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    if (tryLock(channel) == null) {
      channel.close();
      throw new IllegalStateException(
          "The data directory "
              + directory
              + " is in use by another process. Stop that process or choose another directory"
              + " (--local.data-directory)");
    }
    return new DirectoryLock(channel);
  }

  private static @Nullable FileLock tryLock(FileChannel channel) throws IOException {
    try {
      return channel.tryLock();
    } catch (OverlappingFileLockException e) {
      return null; // held by this process
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
