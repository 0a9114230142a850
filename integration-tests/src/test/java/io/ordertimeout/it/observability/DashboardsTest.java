package io.ordertimeout.it.observability;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.observability.DeployedFiles.Rule;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/** Dashboards, as far as they can be checked without Grafana and Prometheus. */
class DashboardsTest {

  private static final int COLUMNS = 24;
  private static final Set<String> CORE_PANELS =
      Set.of("row", "timeseries", "stat", "table", "heatmap", "bargauge");

  /** The labels of a series, each as the variable says; alerts may lack them. */
  private static final Pattern CHOSEN_RELEASE =
      Pattern.compile(
          Stream.of("cluster", "namespace", "application")
              .map(label -> label + "=~\"\\$" + label + "\\|?\"")
              .collect(Collectors.joining(", ", "^\\{", "")));

  static List<Path> files() {
    return DeployedFiles.dashboardFiles();
  }

  @Test
  void everyDashboardHasItsOwnName() {
    List<JsonNode> dashboards = files().stream().map(DeployedFiles::dashboard).toList();

    assertThat(dashboards).hasSizeGreaterThanOrEqualTo(3);
    assertThat(dashboards.stream().map(d -> d.path("uid").asString())).doesNotHaveDuplicates();
    assertThat(dashboards.stream().map(d -> d.path("title").asString())).doesNotHaveDuplicates();
  }

  @ParameterizedTest
  @MethodSource("files")
  void itSaysWhatItIsAndTakesItsDataFromWhereItIsTold(Path file) {
    JsonNode dashboard = DeployedFiles.dashboard(file);

    assertThat(file).hasFileName(dashboard.path("uid").asString() + ".json");
    assertThat(dashboard.path("description").asString()).isNotBlank();
    // The schema version of Grafana 12.
    assertThat(dashboard.path("schemaVersion").asInt()).isGreaterThanOrEqualTo(41);
    assertThat(dashboard.findValues("datasource"))
        .isNotEmpty()
        .allSatisfy(
            source -> {
              assertThat(source.path("type").asString()).isEqualTo("prometheus");
              assertThat(source.path("uid").asString()).isEqualTo("${datasource}");
            });
  }

  @ParameterizedTest
  @MethodSource("files")
  void eachPanelSaysWhatItShowsAndInWhichUnit(Path file) {
    List<JsonNode> panels = DeployedFiles.panels(DeployedFiles.dashboard(file));

    assertThat(panels.stream().map(panel -> panel.path("title").asString()))
        .doesNotHaveDuplicates();
    assertThat(panels)
        .allSatisfy(
            panel -> {
              assertThat(panel.path("title").asString()).isNotBlank();
              assertThat(panel.path("description").asString()).isNotBlank();
              assertThat(panel.at("/fieldConfig/defaults/unit").asString()).isNotBlank();
              assertThat(panel.at("/fieldConfig/defaults/thresholds/steps").size()).isPositive();
              assertThat(panel.path("type").asString()).isIn(CORE_PANELS);
            });
  }

  @ParameterizedTest
  @MethodSource("files")
  void eachQueryHasANameAndAnExpressionThatUsesNoUnknownVariable(Path file) {
    for (JsonNode panel : DeployedFiles.panels(DeployedFiles.dashboard(file))) {
      JsonNode targets = panel.path("targets");
      assertThat(targets.size()).isPositive();
      assertThat(targets.valueStream().map(target -> target.path("refId").asString()))
          .doesNotContain("")
          .doesNotHaveDuplicates();
      targets.forEach(
          target -> {
            String text = target.path("expr").asString();
            assertThat(Expression.of(Grafana.filledIn(text)).metrics()).as(text).isNotEmpty();
          });
    }
  }

  @ParameterizedTest
  @MethodSource("files")
  void panelsLieBesideEachOther(Path file) {
    Set<Integer> ids = new HashSet<>();
    Set<List<Integer>> cells = new HashSet<>();
    for (JsonNode panel : DeployedFiles.dashboard(file).path("panels")) {
      JsonNode at = panel.path("gridPos");
      assertThat(ids.add(panel.path("id").asInt())).as("%s has an id of its own", panel).isTrue();
      assertThat(at.path("x").asInt() + at.path("w").asInt()).isBetween(1, COLUMNS);
      for (int x = at.path("x").asInt(); x < at.path("x").asInt() + at.path("w").asInt(); x++) {
        for (int y = at.path("y").asInt(); y < at.path("y").asInt() + at.path("h").asInt(); y++) {
          assertThat(cells.add(List.of(x, y)))
              .as("%s has column %s of line %s to itself", panel.path("title"), x, y)
              .isTrue();
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("files")
  void allPanelsMarkPausesAndStarts(Path file) {
    List<JsonNode> annotations = DeployedFiles.annotations(DeployedFiles.dashboard(file));

    assertThat(annotations.stream().map(annotation -> annotation.path("name").asString()))
        .containsExactly("Expiry paused", "Instance started");
    assertThat(annotations)
        .allSatisfy(
            annotation -> {
              assertThat(annotation.path("enable").asBoolean()).isTrue();
              assertThat(annotation.path("titleFormat").asString()).isNotBlank();
              String text = annotation.at("/target/expr").asString();
              assertThat(Expression.of(Grafana.filledIn(text)).metrics()).as(text).isNotEmpty();
            });
  }

  /** Each link opens the runbook of an alert that the panel shows the cause of. */
  @Test
  void everyAlertHasAPanelThatLinksToItsRunbook() {
    Map<String, Expression> alerts =
        DeployedFiles.alerts().stream().collect(Collectors.toMap(Rule::name, Rule::expression));
    Set<String> linked = new TreeSet<>();
    for (Path file : files()) {
      for (JsonNode panel : DeployedFiles.panels(DeployedFiles.dashboard(file))) {
        for (JsonNode link : panel.path("links")) {
          String alert = link.path("title").asString().replace("Runbook of ", "");
          String page = DeployedFiles.runbook(alert);
          assertThat(link.path("url").asString()).isEqualTo("${runbooks:raw}" + page);
          assertThat(DeployedFiles.RUNBOOKS.resolve(page)).exists();
          assertThat(sources(expressions(panel)))
              .as("what %s of %s shows", panel.path("title"), file.getFileName())
              .containsAnyElementsOf(
                  sources(Stream.of(Objects.requireNonNull(alerts.get(alert), alert))));
          linked.add(alert);
        }
      }
    }

    assertThat(linked).isEqualTo(alerts.keySet());
  }

  private static Stream<Expression> expressions(JsonNode panel) {
    return panel
        .path("targets")
        .valueStream()
        .map(target -> Expression.of(Grafana.filledIn(target.path("expr").asString())));
  }

  /** Returns the metrics that expressions use, also through recorded series. */
  private static Set<String> sources(Stream<Expression> expressions) {
    Map<String, Expression> recorded =
        DeployedFiles.rules().stream()
            .filter(rule -> !rule.isAlert())
            .collect(Collectors.toMap(Rule::name, Rule::expression));
    Set<String> sources = new HashSet<>();
    Deque<Expression> left = new ArrayDeque<>(expressions.toList());
    while (!left.isEmpty()) {
      for (String metric : left.pop().metrics()) {
        Expression source = recorded.get(metric);
        if (source == null) {
          sources.add(metric);
        } else {
          left.push(source);
        }
      }
    }
    return sources;
  }

  @ParameterizedTest
  @MethodSource("files")
  void everyVariableIsUsed(Path file) {
    JsonNode dashboard = DeployedFiles.dashboard(file);
    String queries =
        DeployedFiles.panels(dashboard).stream()
            .flatMap(panel -> panel.path("targets").valueStream())
            .map(target -> target.path("expr").asString())
            .collect(Collectors.joining(" "));

    assertThat(variables(dashboard)).contains("datasource", "runbooks").doesNotHaveDuplicates();
    for (JsonNode variable : dashboard.at("/templating/list")) {
      String name = variable.path("name").asString();
      switch (variable.path("type").asString()) {
        case "datasource" -> assertThat(name).isEqualTo("datasource");
        case "constant" ->
            assertThat(variable.path("query").asString()).isEqualTo(DeployedFiles.RUNBOOKS_URL);
        default -> assertThat(queries).contains("=~\"$" + name + "\"");
      }
    }
  }

  /** Otherwise a healthy release would make up for another one that is not. */
  @Test
  void eachSeriesIsThatOfTheChosenRelease() {
    for (DeployedFiles.Query query : DeployedFiles.queries()) {
      for (String metric : Expression.of(Grafana.filledIn(query.text())).metrics()) {
        assertThat(query.text().split("(?<![\\w:])" + metric + "(?![\\w:])", -1))
            .as(query.name())
            .hasSizeGreaterThan(1)
            .satisfies(
                parts ->
                    assertThat(Stream.of(parts).skip(1))
                        .as(query.name())
                        .allMatch(CHOSEN_RELEASE.asPredicate()));
      }
    }
  }

  @Test
  void everyQueryThatIsEmptyWhenHealthyExistsAndHasAReason() {
    Set<String> names =
        Stream.concat(
                DeployedFiles.queries().stream().map(DeployedFiles.Query::name),
                DeployedFiles.rules().stream().map(DeployedFiles.Rule::name))
            .collect(Collectors.toSet());

    assertThat(names).containsAll(DeployedFiles.emptyWhenHealthy().keySet());
    assertThat(DeployedFiles.emptyWhenHealthy().values()).noneMatch(String::isBlank);
  }

  @Test
  void theDataSourceUsesTheScrapeInterval() {
    JsonNode source =
        DeployedFiles.yaml(
            DeployedFiles.GRAFANA.resolve("provisioning/datasources/prometheus.yml"));
    JsonNode prometheus = DeployedFiles.yaml(DeployedFiles.PROMETHEUS.resolve("prometheus.yml"));

    assertThat(source.at("/datasources/0/jsonData/timeInterval").asString())
        .isNotBlank()
        .isEqualTo(prometheus.at("/global/scrape_interval").asString());
  }

  private static List<String> variables(JsonNode dashboard) {
    List<String> names = new ArrayList<>();
    dashboard.at("/templating/list").forEach(v -> names.add(v.path("name").asString()));
    return names;
  }
}
