package io.ordertimeout.it.docker;

import io.ordertimeout.it.support.ChildProcess;
import io.ordertimeout.it.support.StrictYaml;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * An image of the Dockerfile, built and run without Docker. Its layers are extracted and copied by
 * the Dockerfile's instructions. Its command runs as a plain process in a read-only directory, as
 * the image's user if the tests run as root.
 */
final class Image {

  private final Dockerfile dockerfile;
  private final String stage;
  private final List<String> extraction;
  private final Path jar;
  private final Path layers;
  private final Path workingDirectory;
  private final Path temporary;

  private Image(Dockerfile dockerfile, String stage, Path directory) throws IOException {
    this.dockerfile = dockerfile;
    this.stage = stage;
    this.extraction = extraction();
    this.jar = ProjectFiles.TOP.resolve(extraction.get(extraction.indexOf("-jar") + 1));
    this.layers = directory.resolve("layers");
    this.workingDirectory = Files.createDirectory(directory.resolve("application"));
    this.temporary = Files.createDirectory(directory.resolve("tmp"));
  }

  /**
   * Builds an image from the jar of this build.
   *
   * @param directory an empty directory that other users may enter
   */
  static Image build(Dockerfile dockerfile, String stage, Path directory) throws IOException {
    Image image = new Image(dockerfile, stage, directory);
    image.extract();
    for (Copy copy : image.copies()) {
      image.copy(copy);
    }
    image.train();
    image.makeReadOnly();
    return image;
  }

  /** A {@code COPY} instruction for one layer. */
  private record Copy(String buildStage, String layer) {

    static Copy of(Dockerfile.Instruction instruction) {
      List<String> words = instruction.words();
      if (words.size() != 3
          || !words.get(0).startsWith("--from=")
          || !words.get(1).matches("/layers/[a-z-]+/")
          || !words.get(2).equals("./")) {
        throw new IllegalArgumentException("not a COPY of one layer: " + instruction.arguments());
      }
      return new Copy(
          words.get(0).substring("--from=".length()),
          words.get(1).substring("/layers/".length(), words.get(1).length() - 1));
    }
  }

  private List<Copy> copies() {
    return dockerfile.all(stage, "COPY").stream().map(Copy::of).toList();
  }

  /** Returns the layers of the image in order. */
  List<String> copiedLayers() {
    return copies().stream().map(Copy::layer).toList();
  }

  /** Returns the non-empty layers that the build produces, in order. */
  List<String> builtLayers() throws IOException {
    List<String> built = new ArrayList<>();
    for (String layer : layersOf(jar)) {
      try (Stream<Path> files = Files.walk(layers.resolve(layer))) {
        if (files.anyMatch(Files::isRegularFile)) {
          built.add(layer);
        }
      }
    }
    return built;
  }

  private static List<String> layersOf(Path jar) throws IOException {
    try (FileSystem content = FileSystems.newFileSystem(jar)) {
      JsonNode index = StrictYaml.read(content.getPath("BOOT-INF/layers.idx"));
      return index.valueStream().flatMap(layer -> layer.propertyNames().stream()).toList();
    }
  }

  /** Returns the command with which the build stage extracts the jar. */
  private List<String> extraction() {
    return dockerfile.all(copies().get(0).buildStage(), "RUN").stream()
        .map(Dockerfile.Instruction::words)
        .filter(words -> words.contains("-Djarmode=tools"))
        .findFirst()
        .orElseThrow();
  }

  private void extract() {
    List<String> command = new ArrayList<>(extraction);
    command.set(command.indexOf("java"), ChildProcess.JAVA);
    command.set(command.indexOf("-jar") + 1, jar.toString());
    command.set(command.indexOf("--destination") + 1, layers.toString());
    int exit = ProjectFiles.exitCode(new ProcessBuilder(command).inheritIO());
    if (exit != 0) {
      throw new IllegalStateException(command + " ended with " + exit);
    }
  }

  private void copy(Copy copy) throws IOException {
    Path layer = layers.resolve(copy.layer());
    try (Stream<Path> files = Files.walk(layer)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Path target = workingDirectory.resolve(layer.relativize(file));
        if (Files.isDirectory(file)) {
          Files.createDirectories(target);
        } else {
          Files.copy(file, target);
        }
      }
    }
  }

  /**
   * Has a run of the service write the JVM's cache. A JVM before 25 ignores the cache's options.
   */
  private void train() {
    dockerfile
        .training(stage)
        .ifPresent(
            training -> {
              List<String> command = new ArrayList<>(training);
              command.set(0, ChildProcess.JAVA);
              command.replaceAll(
                  word ->
                      word.replaceFirst("^/training/", ProjectFiles.TOP + "/deploy/local/target/"));
              ProcessBuilder builder =
                  inContainer(command, Map.of("LOCAL_TRAINING_DURATION", "10s")).inheritIO();
              builder.environment().put("JDK_JAVA_OPTIONS", anyJvm());
              int exit = ProjectFiles.exitCode(builder);
              if (exit != 0) {
                throw new IllegalStateException(command + " ended with " + exit);
              }
            });
  }

  private String anyJvm() {
    return "-XX:+IgnoreUnrecognizedVMOptions -Djava.io.tmpdir=" + temporary;
  }

  private void makeReadOnly() throws IOException {
    Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rwxrwxrwx"));
    try (Stream<Path> files = Files.walk(workingDirectory)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Set<PosixFilePermission> readable =
            EnumSet.of(
                PosixFilePermission.OWNER_READ,
                PosixFilePermission.GROUP_READ,
                PosixFilePermission.OTHERS_READ);
        if (Files.isDirectory(file)) {
          readable.add(PosixFilePermission.OWNER_EXECUTE);
          readable.add(PosixFilePermission.GROUP_EXECUTE);
          readable.add(PosixFilePermission.OTHERS_EXECUTE);
        }
        Files.setPosixFilePermissions(file, readable);
      }
    }
  }

  /** Returns the files of the image's directory with their sizes, to detect writes. */
  Map<String, Long> content() throws IOException {
    Map<String, Long> content = new TreeMap<>();
    try (Stream<Path> files = Files.walk(workingDirectory)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        content.put(workingDirectory.relativize(file).toString(), Files.size(file));
      }
    }
    return content;
  }

  /**
   * Runs the image's command. Its output goes to a log file of that name.
   *
   * @param memoryLimit the container's memory limit
   */
  ChildProcess run(String logName, String memoryLimit, Map<String, String> environment) {
    List<String> command = new ArrayList<>(dockerfile.last(stage, "ENTRYPOINT").command());
    command.set(0, ChildProcess.JAVA);
    ProcessBuilder builder = inContainer(asUser(command), environment);
    // These replace the container's memory limit and its /tmp.
    String options = "-XX:MaxRAM=" + memoryLimit + " " + anyJvm();
    if (dockerfile.training(stage).isPresent()) {
      // Ends a JVM that cannot use the cache.
      options += " -XX:AOTMode=on";
    }
    builder.environment().put("JDK_JAVA_OPTIONS", options);
    return ChildProcess.start(logName, builder);
  }

  /** Returns the exit code of the image's health check; 0 is healthy. */
  int healthcheck(Map<String, String> environment) {
    return ProjectFiles.exitCode(
        inContainer(dockerfile.healthcheck(stage), environment)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD));
  }

  private ProcessBuilder inContainer(List<String> command, Map<String, String> environment) {
    ProcessBuilder builder = new ProcessBuilder(command).directory(workingDirectory.toFile());
    builder.environment().keySet().retainAll(Set.of("PATH"));
    builder.environment().put("HOME", "/");
    builder.environment().putAll(environment);
    return builder;
  }

  /** Root becomes the image's user; other users cannot write to the directory anyway. */
  private List<String> asUser(List<String> command) {
    if (!"root".equals(System.getProperty("user.name"))) {
      return command;
    }
    String[] user = dockerfile.last(stage, "USER").arguments().split(":", 2);
    List<String> wrapped =
        new ArrayList<>(
            List.of(
                "setpriv",
                "--reuid=" + user[0],
                "--regid=" + user[1],
                "--clear-groups",
                "--no-new-privs"));
    wrapped.addAll(command);
    return wrapped;
  }
}
