package io.ordertimeout.it.support;

import io.ordertimeout.orders.OrderServiceApplication;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.util.FileSystemUtils;

/**
 * Commands that start the service in a process of its own, at a fraction of the usual cost.
 *
 * <p>The first use in a JVM unpacks the service's jar and has a trial run write an archive of its
 * loaded classes (class-data sharing), which later processes map instead of loading and verifying
 * them anew. They compile with C1 alone, because they live for seconds.
 */
public final class ServiceLauncher {

  /**
   * System property: the names of safeguards that the started services lack. Whatever they do is a
   * test of the tests.
   */
  private static final String WITHOUT = "service.without";

  private static final String SERVICE = OrderServiceApplication.class.getName();
  private static final String SERVICE_WITHOUT = "io.ordertimeout.it.safeguard.ServiceWithout";
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final List<String> JVM_OPTIONS =
      List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

  private static final class Holder {
    static final ServiceLauncher SHARED = LogOwnership.asNobody(ServiceLauncher::prepare);
  }

  private final String classPath;
  private final Path archive;

  private ServiceLauncher(String classPath, Path archive) {
    this.classPath = classPath;
    this.archive = archive;
  }

  /** The command that starts the service; settings are to be added to it. */
  public static List<String> service(List<String> jvmOptions) {
    String without = System.getProperty(WITHOUT);
    if (without != null) {
      List<String> options = new ArrayList<>(jvmOptions);
      options.add("-D" + WITHOUT + "=" + without);
      return test(options, SERVICE_WITHOUT);
    }
    ServiceLauncher launcher = Holder.SHARED;
    return launcher.command(jvmOptions, launcher.classPath, SERVICE);
  }

  /** The command that starts the service with classes of its own in front of the service's. */
  static List<String> service(List<String> jvmOptions, Path classes) {
    ServiceLauncher launcher = Holder.SHARED;
    return launcher.command(jvmOptions, classes + File.pathSeparator + launcher.classPath, SERVICE);
  }

  /** The command that starts a main class of the tests which starts the service itself. */
  public static List<String> test(List<String> jvmOptions, Class<?> mainClass) {
    return test(jvmOptions, mainClass.getName());
  }

  private static List<String> test(List<String> jvmOptions, String mainClass) {
    ServiceLauncher launcher = Holder.SHARED;
    String classPath =
        launcher.classPath + File.pathSeparator + System.getProperty("java.class.path");
    return launcher.command(jvmOptions, classPath, mainClass);
  }

  /** The command that starts another version of the service. */
  static List<String> jar(List<String> jvmOptions, Path jar) {
    List<String> command = new ArrayList<>();
    command.add(ChildProcess.JAVA);
    command.addAll(JVM_OPTIONS);
    command.addAll(jvmOptions);
    command.addAll(List.of("-jar", jar.toString()));
    return command;
  }

  private List<String> command(List<String> jvmOptions, String path, String mainClass) {
    List<String> command = new ArrayList<>();
    command.add(ChildProcess.JAVA);
    command.addAll(JVM_OPTIONS);
    if (Files.exists(archive)) {
      command.add("-XX:SharedArchiveFile=" + archive);
    }
    command.addAll(jvmOptions);
    command.addAll(List.of("-cp", path, mainClass));
    return command;
  }

  private static ServiceLauncher prepare() {
    try {
      Path directory = Files.createTempDirectory("order-timeout-service");
      deleteAtExit(directory);
      run(
          "-Djarmode=tools",
          "-jar",
          System.getProperty("service.jar"),
          "extract",
          "--destination",
          directory.toString(),
          "--force");
      ServiceLauncher launcher =
          new ServiceLauncher(classPath(directory), directory.resolve("service.jsa"));
      launcher.writeArchive();
      return launcher;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String classPath(Path directory) throws IOException {
    try (Stream<Path> libraries = Files.list(directory.resolve("lib"))) {
      return Stream.concat(Stream.of(directory.resolve("order-service.jar")), libraries.sorted())
          .map(Path::toString)
          .collect(Collectors.joining(File.pathSeparator));
    }
  }

  /** The JVM writes the archive when it ends on request. */
  private void writeArchive() {
    try (Scenario scenario = Scenario.create()) {
      List<String> command =
          command(List.of("-Xmx256m", "-XX:ArchiveClassesAtExit=" + archive), classPath, SERVICE);
      ServiceProcess trial =
          ServiceProcess.startCommand("service-archive", command, scenario.settings());
      trial.awaitReady();
      scenario.shop().created("trial", Map.of("timeout", "PT0.1S"));
      scenario.outcomes().awaitCancelled("trial");
      trial.stop();
    }
  }

  private static void run(String... arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of(ChildProcess.JAVA));
    command.addAll(JVM_OPTIONS);
    command.addAll(List.of(arguments));
    ChildProcess process = ChildProcess.start("service-archive", command);
    if (!process.awaitEnd(PATIENCE) || process.exitCode() != 0) {
      process.kill();
      throw new IOException(
          "Cannot unpack the service, see " + ChildProcess.log("service-archive"));
    }
  }

  private static void deleteAtExit(Path directory) {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  try {
                    FileSystemUtils.deleteRecursively(directory);
                  } catch (IOException e) {
                    // The operating system clears its temporary directory.
                  }
                },
                "service-archive-cleaner"));
  }
}
