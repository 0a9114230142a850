package io.ordertimeout.it.docker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import tools.jackson.databind.json.JsonMapper;

/** The stages and instructions of the project's Dockerfile. */
final class Dockerfile {

  record Instruction(String name, String arguments) {

    List<String> words() {
      return Arrays.asList(arguments.split("\\s+"));
    }

    /** Returns a command in exec form, the only form whose process receives signals. */
    List<String> command() {
      return List.of(JsonMapper.shared().readValue(arguments, String[].class));
    }
  }

  private record BuildStage(String base, List<Instruction> instructions) {}

  private final Map<String, BuildStage> stages = new LinkedHashMap<>();

  static Dockerfile read(Path file) {
    try {
      return new Dockerfile(Files.readAllLines(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Dockerfile(List<String> lines) {
    Map<String, String> arguments = new HashMap<>();
    List<Instruction> current = new ArrayList<>();
    for (Instruction instruction : instructions(lines)) {
      switch (instruction.name()) {
        case "ARG" -> {
          String[] definition = instruction.arguments().split("=", 2);
          arguments.put("${" + definition[0] + "}", definition[1]);
        }
        case "FROM" -> {
          String from = instruction.arguments();
          for (Map.Entry<String, String> argument : arguments.entrySet()) {
            from = from.replace(argument.getKey(), argument.getValue());
          }
          String[] words = from.split(" AS ", 2);
          current = new ArrayList<>();
          stages.put(words[1], new BuildStage(words[0], current));
        }
        default -> current.add(instruction);
      }
    }
  }

  private static List<Instruction> instructions(List<String> lines) {
    List<Instruction> instructions = new ArrayList<>();
    StringBuilder joined = new StringBuilder();
    for (String line : lines) {
      if (line.isBlank() || line.stripLeading().startsWith("#")) {
        continue;
      }
      if (line.endsWith("\\")) {
        joined.append(line, 0, line.length() - 1);
        continue;
      }
      String[] words = joined.append(line).toString().split("\\s+", 2);
      instructions.add(new Instruction(words[0], words[1].strip()));
      joined.setLength(0);
    }
    return instructions;
  }

  /** Returns the stages in order; Docker builds the last one by default. */
  List<String> stages() {
    return List.copyOf(stages.keySet());
  }

  /** Returns the images that the stages are based on, without the file's own stages. */
  List<String> baseImages() {
    return stages.values().stream()
        .map(BuildStage::base)
        .filter(base -> !stages.containsKey(base))
        .toList();
  }

  /** Returns the instructions of a stage and of its base stages, earliest first. */
  List<Instruction> all(String stage, String name) {
    BuildStage found = stages.get(stage);
    return found == null
        ? List.of()
        : Stream.concat(
                all(found.base(), name).stream(),
                found.instructions().stream().filter(one -> one.name().equals(name)))
            .toList();
  }

  /** Returns the last of these instructions, which overrides the others. */
  Instruction last(String stage, String name) {
    List<Instruction> all = all(stage, name);
    if (all.isEmpty()) {
      throw new IllegalArgumentException("stage " + stage + " has no " + name);
    }
    return Objects.requireNonNull(all.get(all.size() - 1));
  }

  /** Returns the training run that writes the JVM's cache, in a stage that has one. */
  Optional<List<String>> training(String stage) {
    return all(stage, "RUN").stream()
        .map(Instruction::words)
        .filter(words -> words.contains("--local.training.jar=order-service.jar"))
        .map(words -> words.subList(words.indexOf("java"), words.size()))
        .findFirst();
  }

  /** Returns the health check command of a stage. */
  List<String> healthcheck(String stage) {
    String arguments = last(stage, "HEALTHCHECK").arguments();
    return new Instruction("CMD", arguments.substring(arguments.indexOf("CMD ") + 4)).command();
  }
}
