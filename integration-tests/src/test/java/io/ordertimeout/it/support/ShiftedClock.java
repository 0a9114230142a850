package io.ordertimeout.it.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * The wall clock of one service process, which a test can set. It replaces the class from which
 * Kafka's clients read the time; monotonic time is not affected.
 */
public final class ShiftedClock {

  private static final String CLASS = "org.apache.kafka.common.utils.SystemTime";
  private static final String OFFSET_FILE = "test.clock.offset";

  private static final String SOURCE =
      """
      package org.apache.kafka.common.utils;

      import java.nio.file.Files;
      import java.nio.file.Path;
      import java.util.function.Supplier;

      class SystemTime implements Time {
        private static final SystemTime INSTANCE = new SystemTime();
        private volatile long offset;

        static SystemTime getSystemTime() {
          return INSTANCE;
        }

        SystemTime() {
          Path file = Path.of(System.getProperty("test.clock.offset"));
          Thread reader =
              new Thread(
                  () -> {
                    while (true) {
                      try {
                        offset = Long.parseLong(Files.readString(file));
                        Thread.sleep(50);
                      } catch (Exception e) {
                        throw new IllegalStateException(e);
                      }
                    }
                  },
                  "clock-offset");
          reader.setDaemon(true);
          reader.start();
        }

        @Override
        public long milliseconds() {
          return System.currentTimeMillis() + offset;
        }

        @Override
        public long nanoseconds() {
          return System.nanoTime();
        }

        @Override
        public void sleep(long ms) {
          Utils.sleep(ms);
        }

        @Override
        public void waitObject(Object lock, Supplier<Boolean> condition, long deadlineMs)
            throws InterruptedException {
          synchronized (lock) {
            while (!condition.get()) {
              long now = milliseconds();
              if (now >= deadlineMs) {
                throw new org.apache.kafka.common.errors.TimeoutException("not satisfied in time");
              }
              lock.wait(deadlineMs - now);
            }
          }
        }
      }
      """;

  private final Path directory;

  private ShiftedClock(Path directory) {
    this.directory = directory;
  }

  /** Creates a clock that shows the right time, with its files in an empty directory. */
  public static ShiftedClock in(Path directory) {
    ShiftedClock clock = new ShiftedClock(directory);
    clock.set(Duration.ZERO);
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    List<String> options =
        List.of("-d", directory.toString(), "-cp", System.getProperty("java.class.path"));
    if (!compiler.getTask(null, null, null, options, null, List.of(source())).call()) {
      throw new IllegalStateException(CLASS + " does not compile");
    }
    return clock;
  }

  /** Sets the clock ahead of, or with a negative offset behind, the right time. */
  public void set(Duration offset) {
    try {
      Path written = Files.writeString(directory.resolve("new"), Long.toString(offset.toMillis()));
      Files.move(written, offsetFile(), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The command that starts the service with this clock; settings are to be added to it. */
  List<String> service(List<String> jvmOptions) {
    List<String> options = new ArrayList<>(jvmOptions);
    options.add("-D" + OFFSET_FILE + "=" + offsetFile());
    return ServiceLauncher.service(options, directory);
  }

  private Path offsetFile() {
    return directory.resolve("offset");
  }

  private static JavaFileObject source() {
    return new SimpleJavaFileObject(
        URI.create("string:///" + CLASS.replace('.', '/') + ".java"), JavaFileObject.Kind.SOURCE) {
      @Override
      public CharSequence getCharContent(boolean ignoreEncodingErrors) {
        return SOURCE;
      }
    };
  }
}
