package io.ordertimeout.it.observability;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The files in {@code deploy} that describe the service. */
final class DeployedFiles {

  static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  static final Path PROMETHEUS = ROOT.resolve("deploy/prometheus");
  static final Path GRAFANA = ROOT.resolve("deploy/grafana");
  static final Path RUNBOOKS = ROOT.resolve("deploy/runbooks");

  /** Where the runbooks are unless a deployment says otherwise. */
  static final String RUNBOOKS_URL =
      "https://github.com/order-timeout/order-timeout/blob/main/" + "deploy/runbooks/";

  /**
   * A Prometheus rule.
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
   * A query of a dashboard.
   *
   * @param name the dashboard, the panel or annotation, and the query
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

  /** Returns the panels of a dashboard that have queries. */
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
          queries.add(query(dashboard, panel.path("title"), target));
        }
      }
      for (JsonNode annotation : annotations(dashboard)) {
        queries.add(query(dashboard, annotation.path("name"), annotation.path("target")));
      }
    }
    return queries;
  }

  private static Query query(JsonNode dashboard, JsonNode shown, JsonNode target) {
    String name =
        String.join(
            " / ",
            dashboard.path("uid").asString(),
            shown.asString(),
            target.path("refId").asString());
    return new Query(name, target.path("expr").asString());
  }

  /** Returns what a dashboard marks in all its panels. */
  static List<JsonNode> annotations(JsonNode dashboard) {
    return dashboard.at("/annotations/list").valueStream().toList();
  }

  /** Returns the queries and rules without a result in a healthy service, with the reasons. */
  static Map<String, String> emptyWhenHealthy() {
    Map<String, String> reasons = new TreeMap<>();
    for (JsonNode entry : yaml(GRAFANA.resolve("empty-when-healthy.yml")).path("expressions")) {
      reasons.put(entry.path("name").asString(), entry.path("because").asString());
    }
    return reasons;
  }

  /** Returns the file name of the runbook of an alert: the alert's name in kebab case. */
  static String runbook(String alert) {
    return alert.replaceAll("(?<!^)(?=[A-Z])", "-").toLowerCase(Locale.ROOT) + ".md";
  }

  /** Returns the runbooks without their index. */
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
