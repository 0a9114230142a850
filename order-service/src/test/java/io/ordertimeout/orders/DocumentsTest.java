package io.ordertimeout.orders;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import io.ordertimeout.orders.operator.OrderBlocker;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.ClassPathScanningCandidateComponentProvider;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.type.filter.AnnotationTypeFilter;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Holds the tables and links of the documents to the code. */
class DocumentsTest {
  private static final Path REPOSITORY = Path.of("..").toAbsolutePath().normalize();
  private static final Path README = REPOSITORY.resolve("README.md");
  private static final Path DOCS = REPOSITORY.resolve("order-service/docs");
  private static final Path SOURCES = REPOSITORY.resolve("order-service/src/main/java");
  private static final int MAX_README_BYTES = 10_000;

  private static final Path METADATA =
      Path.of("target", "classes", "META-INF", "spring-configuration-metadata.json");
  private static final String PROPERTY_PREFIX = "order-timeout.";
  private static final Pattern METER = Pattern.compile("\"(order\\.timeout\\.[^\"]*)\"");
  private static final Pattern METRIC_ROW = Pattern.compile("\\| `(order_timeout_\\w+)` \\|.*");
  private static final Pattern REQUEST_ROW =
      Pattern.compile("\\| `((?:GET|POST|PUT|PATCH|DELETE) /\\S+)` \\|([^|]*)\\|.*");
  private static final Pattern BLOCKER_ROW = Pattern.compile("\\| `([a-z-]+)` \\|([^|]*)\\|.*");
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");

  private static final Pattern LINK = Pattern.compile("!?\\[[^\\]]*]\\(([^)\\s]+)[^)]*\\)");
  private static final Pattern HEADING = Pattern.compile("#{1,6} +(.+?) *#*");

  @Test
  void readmeIsShort() throws IOException {
    assertThat(Files.size(README)).isLessThanOrEqualTo(MAX_README_BYTES);
  }

  @Test
  void listsEveryPropertyWithItsDefaultAndDescription() throws IOException {
    List<String> expected = properties();
    Path table = Path.of("target", "configuration-table.md");
    Files.write(Files.createDirectories(table.getParent()).resolve(table.getFileName()), expected);

    assertThat(lines("configuration.md").filter(line -> line.startsWith("| `" + PROPERTY_PREFIX)))
        .as("The table of configuration.md; %s has the rows as they should be", table)
        .containsExactlyElementsOf(expected);
  }

  @Test
  void listsEveryMetric() throws IOException {
    Set<String> meters = new TreeSet<>();
    for (Path source : files(SOURCES, ".java")) {
      METER
          .matcher(Files.readString(source))
          .results()
          .forEach(result -> meters.add(result.group(1)));
    }

    List<String> listed =
        lines("observability.md")
            .map(METRIC_ROW::matcher)
            .filter(Matcher::matches)
            .map(row -> meterOf(row.group(1)))
            .toList();

    assertThat(listed).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(meters);
  }

  @Test
  void listsEveryRequestWithItsQueryParameters() throws Exception {
    Map<String, Set<String>> listed = new TreeMap<>();
    lines("api.md")
        .map(REQUEST_ROW::matcher)
        .filter(Matcher::matches)
        .forEach(
            row ->
                listed.put(
                    row.group(1),
                    row.group(1).startsWith("GET ") ? codeIn(row.group(2)) : Set.of()));

    assertThat(listed).isEqualTo(requests());
  }

  @Test
  void listsEveryReasonWhyAnOrderIsWaitingWithItsFields() throws IOException {
    Map<String, Set<String>> listed = new TreeMap<>();
    lines("api.md")
        .map(BLOCKER_ROW::matcher)
        .filter(Matcher::matches)
        .forEach(row -> listed.put(row.group(1), codeIn(row.group(2))));

    Map<String, Set<String>> blockers = new TreeMap<>();
    for (JsonSubTypes.Type type : OrderBlocker.class.getAnnotation(JsonSubTypes.class).value()) {
      blockers.put(
          type.name(),
          Stream.of(type.value().getRecordComponents())
              .map(RecordComponent::getName)
              .collect(Collectors.toSet()));
    }

    assertThat(listed).isEqualTo(blockers);
  }

  @Test
  void everyRelativeLinkResolves() throws IOException {
    List<String> broken = new ArrayList<>();
    for (Path document : documents()) {
      for (String target : linksIn(document)) {
        if (!resolves(document, target)) {
          broken.add(REPOSITORY.relativize(document) + ": " + target);
        }
      }
    }

    assertThat(broken).isEmpty();
  }

  @Test
  void anchorsAreThoseOfTheForge() {
    assertThat(
            anchorsOf(
                List.of(
                    "# When Kafka or Postgres is unavailable",
                    "## `GET /api/v1/order`, in short",
                    "text",
                    "```sh",
                    "# not a heading",
                    "```",
                    "## Metrics",
                    "## Metrics")))
        .containsExactlyInAnyOrder(
            "when-kafka-or-postgres-is-unavailable",
            "get-apiv1order-in-short",
            "metrics",
            "metrics-1");
  }

  private static Stream<String> lines(String document) throws IOException {
    return Files.readAllLines(DOCS.resolve(document)).stream();
  }

  private static List<String> properties() throws IOException {
    List<String> rows = new ArrayList<>();
    // Not from the class path, where the metadata of tests come first.
    try (InputStream metadata = Files.newInputStream(METADATA)) {
      JsonNode root = JsonMapper.shared().readTree(metadata);
      for (JsonNode property : root.path("properties")) {
        String name = property.path("name").asString();
        if (name.startsWith(PROPERTY_PREFIX)) {
          rows.add(row(name, property));
        }
      }
    }
    rows.sort(null);
    return rows;
  }

  private static String row(String name, JsonNode property) {
    JsonNode value = property.path("defaultValue");
    String text = value.isValueNode() ? value.asString() : "";
    String shown = text.isEmpty() ? "" : "`" + text + "`";
    String description = property.path("description").asString().replaceAll("\\s+", " ").trim();
    return "| `%s` | %s | %s |".formatted(name, shown, description);
  }

  /** Returns Micrometer's name of a metric that Prometheus names with its unit or as a total. */
  private static String meterOf(String metric) {
    return metric.replaceFirst("_(total|seconds)$", "").replace('_', '.');
  }

  private static Set<String> codeIn(String cell) {
    return CODE.matcher(cell).results().map(result -> result.group(1)).collect(Collectors.toSet());
  }

  private static Map<String, Set<String>> requests() throws ClassNotFoundException {
    ClassPathScanningCandidateComponentProvider scanner =
        new ClassPathScanningCandidateComponentProvider(false);
    scanner.addIncludeFilter(new AnnotationTypeFilter(RestController.class));
    Map<String, Set<String>> requests = new TreeMap<>();
    for (BeanDefinition bean :
        scanner.findCandidateComponents(DocumentsTest.class.getPackageName())) {
      Class<?> controller = Class.forName(bean.getBeanClassName());
      RequestMapping common =
          AnnotatedElementUtils.findMergedAnnotation(controller, RequestMapping.class);
      String prefix = common == null ? "" : common.path()[0];
      for (Method method : controller.getDeclaredMethods()) {
        RequestMapping mapping =
            AnnotatedElementUtils.findMergedAnnotation(method, RequestMapping.class);
        if (mapping != null) {
          String path = mapping.path().length == 0 ? "" : mapping.path()[0];
          for (RequestMethod verb : mapping.method()) {
            requests.put(verb + " " + prefix + path, queryParametersOf(method));
          }
        }
      }
    }
    return requests;
  }

  private static Set<String> queryParametersOf(Method method) {
    return Stream.of(method.getParameters())
        .flatMap(DocumentsTest::queryParametersOf)
        .collect(Collectors.toSet());
  }

  /** Returns the name of a parameter, or those of a record's components. */
  private static Stream<String> queryParametersOf(Parameter parameter) {
    if (parameter.isAnnotationPresent(RequestParam.class)) {
      return Stream.of(parameter.getName());
    }
    boolean isBody = parameter.isAnnotationPresent(RequestBody.class);
    return parameter.getType().isRecord() && !isBody
        ? Stream.of(parameter.getType().getRecordComponents()).map(RecordComponent::getName)
        : Stream.empty();
  }

  /** Returns all Markdown files except those of {@code integration-tests} and of builds. */
  private static List<Path> documents() throws IOException {
    List<Path> documents = new ArrayList<>(List.of(README));
    documents.addAll(files(DOCS, ".md"));
    documents.addAll(files(REPOSITORY.resolve("deploy"), ".md"));
    documents.addAll(files(REPOSITORY.resolve("timeout-engine"), ".md"));
    return documents;
  }

  private static List<Path> files(Path directory, String suffix) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      return paths
          .filter(path -> path.toString().endsWith(suffix))
          .filter(path -> !directory.relativize(path).startsWith("target"))
          .filter(path -> !path.toString().contains("/target/"))
          .toList();
    }
  }

  /** Returns the targets of all links that lead into this repository. */
  private static List<String> linksIn(Path document) throws IOException {
    String text = String.join("\n", withoutCode(Files.readAllLines(document)));
    return LINK.matcher(text)
        .results()
        .map((MatchResult link) -> link.group(1))
        .filter(target -> !target.contains("://") && !target.startsWith("mailto:"))
        .toList();
  }

  private static boolean resolves(Path document, String target) throws IOException {
    String[] parts = target.split("#", 2);
    Path file =
        parts[0].isEmpty()
            ? document
            : Objects.requireNonNull(document.getParent()).resolve(parts[0]).normalize();
    if (!file.startsWith(REPOSITORY) || !Files.exists(file)) {
      return false;
    }
    return parts.length == 1 || anchorsOf(Files.readAllLines(file)).contains(parts[1]);
  }

  private static Set<String> anchorsOf(List<String> lines) {
    Set<String> anchors = new HashSet<>();
    Map<String, Integer> uses = new HashMap<>();
    for (String line : withoutCode(lines)) {
      Matcher heading = HEADING.matcher(line);
      if (heading.matches()) {
        String anchor =
            heading
                .group(1)
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N} _-]", "")
                .replace(' ', '-');
        int before = uses.merge(anchor, 1, Integer::sum) - 1;
        anchors.add(before == 0 ? anchor : anchor + "-" + before);
      }
    }
    return anchors;
  }

  /** Returns the lines outside of fenced code blocks. */
  private static List<String> withoutCode(List<String> lines) {
    List<String> text = new ArrayList<>();
    boolean inCode = false;
    for (String line : lines) {
      if (line.stripLeading().startsWith("```")) {
        inCode = !inCode;
      } else if (!inCode) {
        text.add(line);
      }
    }
    return text;
  }
}
