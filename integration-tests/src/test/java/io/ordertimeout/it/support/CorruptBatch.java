package io.ordertimeout.it.support;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;

/**
 * A batch on a broker's disk of which one bit is flipped, as by a failing disk, until it is
 * restored. Consumers that fetch the batch from that broker find that its checksum is wrong; the
 * broker itself does not check it.
 */
public final class CorruptBatch {

  /** Length of what precedes the counted bytes of a batch: its first offset and its length. */
  private static final int PREFIX = 12;

  private static final int LAST_OFFSET_DELTA = 23;
  private static final int HEADER = 61;
  private static final int BIT = 1;

  /** From the end of a batch: before the number of headers, which the broker may read. */
  private static final int IN_LAST_RECORD = 2;

  private final Path segment;
  private final long position;

  private CorruptBatch(Path segment, long position) {
    this.segment = segment;
    this.position = position;
  }

  /**
   * Flips a bit in the last record of the batch that contains an offset.
   *
   * @param directory the broker's data directory
   */
  public static CorruptBatch at(Path directory, TopicPartition partition, long offset) {
    try {
      for (Path segment : segments(directory.resolve(partition.toString()))) {
        long position = inLastRecord(segment, offset);
        if (position >= 0) {
          CorruptBatch corrupt = new CorruptBatch(segment, position);
          corrupt.flip();
          return corrupt;
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    throw new IllegalArgumentException(directory + " contains no offset " + offset);
  }

  private static List<Path> segments(Path log) throws IOException {
    try (Stream<Path> files = Files.list(log)) {
      return files.filter(file -> file.toString().endsWith(".log")).sorted().toList();
    }
  }

  /** A position in the last record of the batch that contains the offset; -1 if there is none. */
  private static long inLastRecord(Path segment, long offset) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(segment.toFile(), "r")) {
      long batch = 0;
      while (batch + HEADER <= file.length()) {
        file.seek(batch);
        long first = file.readLong();
        long next = batch + PREFIX + file.readInt();
        file.seek(batch + LAST_OFFSET_DELTA);
        if (first + file.readInt() >= offset) {
          return first <= offset ? next - IN_LAST_RECORD : -1;
        }
        batch = next;
      }
      return -1;
    }
  }

  private void flip() throws IOException {
    // The broker sends the file from the same page cache, so it notices at once.
    try (RandomAccessFile file = new RandomAccessFile(segment.toFile(), "rw")) {
      file.seek(position);
      int flipped = file.read() ^ BIT;
      file.seek(position);
      file.write(flipped);
    }
  }

  /** Flips the bit back. */
  public void restore() {
    try {
      flip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
