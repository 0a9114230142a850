package io.ordertimeout.it.kubernetes;

import com.marcnuri.helm.Helm;
import com.marcnuri.helm.LintResult;
import com.marcnuri.helm.TemplateCommand;
import io.ordertimeout.it.support.StrictYaml;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.core.io.ByteArrayResource;
import tools.jackson.databind.JsonNode;

/** The chart, rendered by Helm. */
public final class Chart {

  static final Path DIRECTORY = Path.of("../deploy/kubernetes").toAbsolutePath().normalize();

  static final String RELEASE = "order-timeout";

  /** The least that a user has to state. */
  static final Map<String, Object> REQUIRED =
      Map.of(
          "kafka.bootstrapServers", "kafka:9092",
          "postgres.url", "jdbc:postgresql://postgres:5432/ordertimeout",
          "postgres.existingSecret", "postgres");

  private static final Path COPY = copied();

  private static final String KUBERNETES = "1.31.0";

  private Chart() {}

  /** Has Helm check the chart, whose required values are set. */
  static LintResult lint(Path emptyDirectory) {
    copy(emptyDirectory);
    Path values = emptyDirectory.resolve("values.yaml");
    try {
      String set = Files.readString(values);
      for (Map.Entry<String, Object> required : REQUIRED.entrySet()) {
        String key = required.getKey().substring(required.getKey().indexOf('.') + 1);
        String section = required.getKey().substring(0, required.getKey().indexOf('.'));
        set =
            set.replaceFirst(
                "(?s)(\n" + section + ":.*?\n  " + key + ": )\"\"", "$1" + required.getValue());
      }
      Files.writeString(values, set);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new Helm(emptyDirectory).lint().strict().call();
  }

  /** With files instead of links, each of which Helm would report. */
  private static void copy(Path target) {
    try (Stream<Path> files = Files.walk(DIRECTORY, FileVisitOption.FOLLOW_LINKS)) {
      for (Path file : files.toList()) {
        Path copy = target.resolve(DIRECTORY.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(copy);
        } else {
          Files.copy(file, copy);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path copied() {
    try {
      Path directory = Files.createTempDirectory(Path.of("target"), "chart");
      copy(directory);
      return directory;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The value that the chart has unless a user states another. */
  public static String defaultValue(String pointer) {
    return StrictYaml.read(DIRECTORY.resolve("values.yaml")).at(pointer).asString();
  }

  static Path example(String name) {
    return DIRECTORY.resolve("examples").resolve(name);
  }

  /** Renders the chart with a file of values. */
  static Objects render(Path values) {
    return render(template().withValuesFile(values));
  }

  /** Renders the chart with what is required and with further values, by their paths. */
  public static Objects render(Map<String, ?> values) {
    TemplateCommand command = template();
    REQUIRED.forEach(command::set);
    values.forEach(command::set);
    return render(command);
  }

  /** Renders the chart as a release of that name. */
  static Objects renderAs(String release, Map<String, ?> values) {
    TemplateCommand command = template().withName(release);
    REQUIRED.forEach(command::set);
    values.forEach(command::set);
    return render(command);
  }

  /** Renders the chart with what is required and with further values, as in a file. */
  public static Objects render(String yaml) {
    return render(yaml, REQUIRED);
  }

  /** Renders the chart with values as in a file, and with others, by their paths. */
  static Objects render(String yaml, Map<String, ?> more) {
    try {
      Path file = Files.createTempFile("values", ".yaml");
      try {
        Files.writeString(file, yaml);
        TemplateCommand command = template().withValuesFile(file);
        more.forEach(command::set);
        return render(command);
      } finally {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static TemplateCommand template() {
    return new Helm(COPY)
        .template()
        .withName(RELEASE)
        .withNamespace("shop")
        .withKubeVersion(KUBERNETES);
  }

  private static Objects render(TemplateCommand command) {
    return new Objects(StrictYaml.documents(command.call()));
  }

  /** The objects of a rendered chart. */
  public record Objects(List<JsonNode> all) {

    /** The objects of a kind. */
    List<JsonNode> of(String kind) {
      return all.stream().filter(object -> kind(object).equals(kind)).toList();
    }

    /** The only object of a kind. */
    public JsonNode only(String kind) {
      List<JsonNode> found = of(kind);
      if (found.size() != 1) {
        throw new AssertionError(found.size() + " objects of kind " + kind);
      }
      return found.get(0);
    }

    /** The chart's own objects, without further ones from the values. */
    Objects own() {
      return new Objects(
          all.stream().filter(o -> o.at("/metadata/labels").has("helm.sh/chart")).toList());
    }

    /** The pods' template. */
    JsonNode pod() {
      return only("StatefulSet").at("/spec/template");
    }

    /** The service's container. */
    JsonNode container() {
      return pod().at("/spec/containers/0");
    }

    /** The properties in the configuration of the service, as the service reads them. */
    public Map<String, String> properties() {
      YamlPropertiesFactoryBean yaml = new YamlPropertiesFactoryBean();
      yaml.setResources(new ByteArrayResource(applicationYaml().getBytes(StandardCharsets.UTF_8)));
      Properties properties = java.util.Objects.requireNonNull(yaml.getObject());
      return properties.entrySet().stream()
          .collect(
              Collectors.toMap(
                  property -> property.getKey().toString(),
                  property -> property.getValue().toString()));
    }

    private String applicationYaml() {
      return of("ConfigMap").stream()
          .map(map -> map.path("data").path("application.yaml"))
          .filter(JsonNode::isString)
          .findFirst()
          .orElseThrow()
          .asString();
    }
  }

  /** The variables of a container that have a value, and not that of a secret. */
  static Map<String, String> environment(JsonNode container) {
    return stream(container.path("env"))
        .filter(variable -> variable.has("value"))
        .collect(
            Collectors.toMap(
                variable -> variable.path("name").asString(),
                variable -> variable.path("value").asString()));
  }

  static Stream<JsonNode> stream(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false);
  }

  static String kind(JsonNode object) {
    return object.path("kind").asString();
  }

  static String name(JsonNode object) {
    return object.at("/metadata/name").asString();
  }
}
