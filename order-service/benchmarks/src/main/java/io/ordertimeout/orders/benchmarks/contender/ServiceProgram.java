package io.ordertimeout.orders.benchmarks.contender;

import io.ordertimeout.orders.benchmarks.servers.ChildJvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The service as a program.
 *
 * @param jar its runnable jar
 * @param heap its maximum heap
 * @param options further options of the JVM
 */
public record ServiceProgram(Path jar, String heap, List<String> options) {

  private static final boolean HAS_CACHE = Runtime.version().feature() >= 25;

  /**
   * The same, extracted, so that a JVM can start it from an archive.
   *
   * @param directory where to extract it
   */
  public ServiceProgram extracted(Path directory) {
    ChildJvm.runJar(
        directory.resolveSibling(directory.getFileName() + "-extract.log"),
        List.of("-Djarmode=tools"),
        jar,
        List.of("extract", "--destination", directory.toString()));
    return new ServiceProgram(directory.resolve(jar.getFileName()), heap, options);
  }

  /** The same in a training run: at its end it writes an archive of what the JVM has learnt. */
  public ServiceProgram training(Path archive) {
    return with((HAS_CACHE ? "-XX:AOTCacheOutput=" : "-XX:ArchiveClassesAtExit=") + archive);
  }

  /** The same, started from an archive that a training run has written. */
  public ServiceProgram trained(Path archive) {
    if (!Files.exists(archive)) {
      throw new IllegalStateException("The training run has written no " + archive);
    }
    return with((HAS_CACHE ? "-XX:AOTCache=" : "-XX:SharedArchiveFile=") + archive);
  }

  private ServiceProgram with(String option) {
    return new ServiceProgram(
        jar, heap, Stream.concat(options.stream(), Stream.of(option)).toList());
  }
}
