package io.ordertimeout.orders.benchmarks.contender;

import io.ordertimeout.orders.benchmarks.servers.ChildJvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The service as a program.
 *
 * @param jar its runnable jar
 * @param heap its maximum heap
 * @param options further options of the JVM
 */
public record ServiceProgram(Path jar, String heap, List<String> options) {

  private static final int FIRST_JDK_WITH_CACHE = 25;

  /** The service as it is built. */
  public static ServiceProgram of(Path jar, String heap) {
    return new ServiceProgram(jar, heap, List.of());
  }

  /**
   * Prepares the same service for a quick start, as its documents recommend: the jar is extracted,
   * and a training run writes an archive of the classes that it has loaded.
   *
   * @param directory where to extract it
   */
  public ServiceProgram withArchive(Path directory) {
    ChildJvm.runJar(
        directory.resolveSibling(directory.getFileName() + "-extract.log"),
        List.of("-Djarmode=tools"),
        jar,
        List.of("extract", "--destination", directory.toString()));
    ServiceProgram extracted =
        new ServiceProgram(directory.resolve(jar.getFileName()), heap, List.of());
    Path archive = directory.resolve("archive");
    boolean cache = Runtime.version().feature() >= FIRST_JDK_WITH_CACHE;
    ChildJvm.runJar(
        directory.resolveSibling(directory.getFileName() + "-training.log"),
        List.of(
            "-Xmx" + heap,
            (cache ? "-XX:AOTCacheOutput=" : "-XX:ArchiveClassesAtExit=") + archive,
            "-Dspring.context.exit=onRefresh"),
        extracted.jar,
        List.of());
    if (!Files.exists(archive)) {
      throw new IllegalStateException("The training run has written no " + archive);
    }
    return new ServiceProgram(
        extracted.jar,
        heap,
        List.of((cache ? "-XX:AOTCache=" : "-XX:SharedArchiveFile=") + archive));
  }
}
