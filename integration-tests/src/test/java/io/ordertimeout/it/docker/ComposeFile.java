package io.ordertimeout.it.docker;

import io.ordertimeout.it.support.StrictYaml;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.type.LogicalType;

/**
 * A compose file, read strictly: duplicate keys, keys that are not among the ones below, and values
 * of a wrong type are errors. The components are Compose's own keys.
 */
record ComposeFile(
    @Nullable String name, Map<String, Service> services, Map<String, @Nullable Object> volumes) {

  record Service(
      String image,
      @Nullable Build build,
      @Nullable String user,
      List<String> profiles,
      List<String> command,
      Map<String, String> environment,
      List<String> ports,
      List<String> volumes,
      boolean readOnly,
      List<String> tmpfs,
      List<String> capDrop,
      List<String> securityOpt,
      String restart,
      String memLimit,
      @Nullable String stopGracePeriod,
      @Nullable Healthcheck healthcheck,
      Map<String, Dependency> dependsOn) {

    Service {
      profiles = orEmpty(profiles);
      command = orEmpty(command);
      environment = orEmpty(environment);
      ports = orEmpty(ports);
      volumes = orEmpty(volumes);
      tmpfs = orEmpty(tmpfs);
      capDrop = orEmpty(capDrop);
      securityOpt = orEmpty(securityOpt);
      dependsOn = orEmpty(dependsOn);
    }

    /** How long the container may take to end: its own setting, or Docker's default. */
    Duration stopGrace() {
      return stopGracePeriod == null
          ? Duration.ofSeconds(10)
          : DurationStyle.SIMPLE.parse(stopGracePeriod);
    }

    /** Returns the environment with its variables replaced. */
    Map<String, String> environment(Map<String, String> variables) {
      Map<String, String> replaced = new LinkedHashMap<>();
      environment.forEach((name, value) -> replaced.put(name, interpolate(value, variables)));
      return replaced;
    }
  }

  record Build(String context, String dockerfile, String target) {}

  record Healthcheck(
      List<String> test, String interval, String timeout, int retries, String startPeriod) {}

  record Dependency(String condition) {}

  private static final Pattern VARIABLE =
      Pattern.compile("\\$\\{(?<name>\\w+):(?<kind>[?-])(?<rest>[^}]*)}");

  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .withCoercionConfig(
              LogicalType.Textual,
              text ->
                  text.setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail)
                      .setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                      .setCoercion(CoercionInputShape.Float, CoercionAction.Fail))
          .build();

  static ComposeFile read(Path file) {
    ObjectNode content = (ObjectNode) StrictYaml.read(file);
    // Compose ignores extension fields.
    content.remove(content.propertyNames().stream().filter(key -> key.startsWith("x-")).toList());
    return MAPPER.treeToValue(content, ComposeFile.class);
  }

  Service service(String service) {
    return Objects.requireNonNull(services.get(service), () -> "there is no service " + service);
  }

  /** Replaces the variables in a value, as Compose does. */
  static String interpolate(String value, Map<String, String> variables) {
    return VARIABLE
        .matcher(value)
        .replaceAll(
            found -> {
              String given = variables.get(found.group(1));
              if (given == null && found.group(2).equals("?")) {
                throw new IllegalArgumentException(found.group(1) + " is required");
              }
              return Matcher.quoteReplacement(given == null ? found.group(3) : given);
            });
  }

  private static <T> List<T> orEmpty(@Nullable List<T> list) {
    return list == null ? List.of() : list;
  }

  private static <T> Map<String, T> orEmpty(@Nullable Map<String, T> map) {
    return map == null ? Map.of() : map;
  }
}
