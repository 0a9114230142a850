package io.ordertimeout.it.observability;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The files below {@code deploy} that serve to observe the service. */
final class DeployedFiles {

  static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  static final Path PROMETHEUS = ROOT.resolve("deploy/prometheus");
  static final Path GRAFANA = ROOT.resolve("deploy/grafana");
  static final Path RUNBOOKS = ROOT.resolve("deploy/runbooks");

  /**
   * A rule of Prometheus.
   *
   * @param name the alert, or the series that is recorded
   * @param isAlert which of the two
   * @param labels what it adds
   * @param annotations what an alert says
   */
  record Rule(
      String name,
      boolean isAlert,
      Expression expression,
      Map<String, String> labels,
      Map<String, String> annotations) {}

  /**
   * A query of a panel.
   *
   * @param name the dashboard, the panel and the query
   * @param text the expression, with Grafana's variables in it
   */
  record Query(String name, String text) {}

  private DeployedFiles() {}

  static List<Rule> rules() {
    List<Rule> rules = new ArrayList<>();
    for (Path file : list(PROMETHEUS.resolve("rules"), ".yml")) {
      for (JsonNode group : yaml(file).path("groups")) {
        for (JsonNode rule : group.path("rules")) {
          boolean isAlert = rule.has("alert");
          rules.add(
              new Rule(
                  rule.path(isAlert ? "alert" : "record").asString(),
                  isAlert,
                  Expression.of(rule.path("expr").asString()),
                  texts(rule.path("labels")),
                  texts(rule.path("annotations"))));
        }
      }
    }
    return rules;
  }

  static List<Rule> alerts() {
    return rules().stream().filter(Rule::isAlert).toList();
  }

  static List<Path> dashboardFiles() {
    return list(GRAFANA.resolve("dashboards"), ".json");
  }

  static JsonNode dashboard(Path file) {
    return JsonMapper.shared().readTree(read(file));
  }

  /** The panels of a dashboard that have queries. */
  static List<JsonNode> panels(JsonNode dashboard) {
    return dashboard.path("panels").valueStream().filter(panel -> !isRow(panel)).toList();
  }

  static boolean isRow(JsonNode panel) {
    return panel.path("type").asString().equals("row");
  }

  static List<Query> queries() {
    List<Query> queries = new ArrayList<>();
    for (Path file : dashboardFiles()) {
      JsonNode dashboard = dashboard(file);
      for (JsonNode panel : panels(dashboard)) {
        for (JsonNode target : panel.path("targets")) {
          String name =
              String.join(
                  " / ",
                  dashboard.path("uid").asString(),
                  panel.path("title").asString(),
                  target.path("refId").asString());
          queries.add(new Query(name, target.path("expr").asString()));
        }
      }
    }
    return queries;
  }

  /** The names of queries and rules that find nothing in a healthy service, each with a reason. */
  static Map<String, String> emptyWhenHealthy() {
    Map<String, String> reasons = new TreeMap<>();
    for (JsonNode entry : yaml(GRAFANA.resolve("empty-when-healthy.yml")).path("expressions")) {
      reasons.put(entry.path("name").asString(), entry.path("because").asString());
    }
    return reasons;
  }

  /** The pages of the runbooks, without their index. */
  static List<Path> runbooks() {
    return list(RUNBOOKS, ".md").stream().filter(page -> !page.endsWith("README.md")).toList();
  }

  static List<Path> list(Path folder, String suffix) {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(suffix)).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static JsonNode yaml(Path file) {
    Object content = new Yaml(new SafeConstructor(new LoaderOptions())).load(read(file));
    return JsonMapper.shared().valueToTree(content);
  }

  private static Map<String, String> texts(JsonNode object) {
    Map<String, String> texts = new TreeMap<>();
    object.forEachEntry((name, value) -> texts.put(name, value.asString()));
    return texts;
  }
}
