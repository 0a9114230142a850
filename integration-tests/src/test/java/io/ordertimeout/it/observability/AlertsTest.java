package io.ordertimeout.it.observability;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.observability.DeployedFiles.Rule;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Every alert has unit tests and a runbook, and every runbook has an alert. */
class AlertsTest {

  private static final Pattern LINK = Pattern.compile("\\]\\((?<target>[^)]+)\\)");

  private static final Pattern EMPHASIS =
      Pattern.compile("(?<![*\\w])\\*(?<text>[^*\\s][^*\\n]*)\\*(?!\\*)");

  private static final Pattern AGGREGATION =
      Pattern.compile("(?<![:\\w])(?:sum|min|max|avg|count)\\s*\\(|\\bby \\(([^)]*)\\)");

  /** Emphasised words of runbooks that are not panels: of the console, Prometheus, other pages. */
  private static final Set<String> NOT_PANELS =
      Set.of(
          "Permit dead letters",
          "Pause expiry",
          "End pause",
          "Lift the hold",
          "Release",
          "Replay the dead letter",
          "Close the order",
          "Conflicts",
          "End…",
          "Orders",
          "Cancelled late by at least",
          "Status, Targets",
          "Look",
          "Do",
          "Scale");

  private final List<Rule> alerts = DeployedFiles.alerts();

  @Test
  void everyAlertHasASeverityASummaryAndARunbookLink() {
    assertThat(alerts).isNotEmpty();
    assertThat(alerts.stream().map(Rule::name)).doesNotHaveDuplicates();
    assertThat(alerts)
        .allSatisfy(
            alert -> {
              assertThat(alert.labels()).containsOnlyKeys("severity");
              assertThat(alert.labels().get("severity")).isIn("page", "ticket");
              assertThat(alert.annotations())
                  .containsOnlyKeys("summary", "description", "runbook_url")
                  .containsEntry(
                      "runbook_url",
                      DeployedFiles.RUNBOOKS_URL + DeployedFiles.runbook(alert.name()));
              assertThat(alert.annotations().values()).noneMatch(String::isBlank);
            });
  }

  @Test
  void everyAlertHasARunbookAndEveryRunbookAnAlert() {
    assertThat(DeployedFiles.runbooks().stream().map(Path::getFileName).map(Path::toString))
        .containsExactlyInAnyOrderElementsOf(
            alerts.stream().map(Rule::name).map(DeployedFiles::runbook).toList());
    for (Rule alert : alerts) {
      assertThat(
              DeployedFiles.read(
                  DeployedFiles.RUNBOOKS.resolve(DeployedFiles.runbook(alert.name()))))
          .startsWith(
              "# %s\n\nSeverity: %s. ".formatted(alert.name(), alert.labels().get("severity")))
          .contains("\n**Means.**", "\n**For customers.**")
          .contains("\n## Look\n", "\n## Do\n", "\n## Resolved\n");
    }
  }

  @Test
  void theIndexListsEveryRunbook() {
    List<String> listed =
        DeployedFiles.read(DeployedFiles.RUNBOOKS.resolve("README.md"))
            .lines()
            .filter(line -> line.startsWith("| [OrderTimeout"))
            .map(line -> line.substring(0, line.indexOf(" |", line.indexOf(" | ") + 3)))
            .toList();

    assertThat(listed)
        .containsExactlyInAnyOrderElementsOf(
            alerts.stream()
                .map(
                    alert ->
                        "| [%s](%s) | %s"
                            .formatted(
                                alert.name(),
                                DeployedFiles.runbook(alert.name()),
                                alert.labels().get("severity")))
                .toList());
  }

  @Test
  void linksOfRunbooksResolve() {
    Stream.concat(
            DeployedFiles.runbooks().stream(),
            Stream.of(
                DeployedFiles.RUNBOOKS.resolve("README.md"),
                DeployedFiles.PROMETHEUS.resolve("README.md"),
                DeployedFiles.GRAFANA.resolve("README.md")))
        .forEach(
            page ->
                LINK.matcher(DeployedFiles.read(page))
                    .results()
                    .map(link -> link.group(1))
                    .forEach(target -> assertExists(page, target)));
  }

  private static void assertExists(Path page, String target) {
    int hash = target.indexOf('#');
    Path file =
        hash == 0
            ? page
            : page.resolveSibling(hash < 0 ? target : target.substring(0, hash)).normalize();
    assertThat(file).as("%s links to %s", page, target).exists();
    if (hash >= 0) {
      assertThat(
              DeployedFiles.read(file).lines().filter(l -> l.startsWith("#")).map(l -> anchor(l)))
          .as("%s links to %s", page, target)
          .contains(target.substring(hash + 1));
    }
  }

  private static String anchor(String heading) {
    return heading
        .replaceFirst("^#+ ", "")
        .toLowerCase(Locale.ROOT)
        .replaceAll("[^a-z0-9 -]", "")
        .replace(' ', '-');
  }

  @Test
  void panelsThatRunbooksNameExist() {
    Set<String> known = new HashSet<>(NOT_PANELS);
    for (Path file : DeployedFiles.dashboardFiles()) {
      JsonNode dashboard = DeployedFiles.dashboard(file);
      known.add(dashboard.path("title").asString());
      DeployedFiles.panels(dashboard).forEach(panel -> known.add(panel.path("title").asString()));
    }
    for (Path page : DeployedFiles.runbooks()) {
      assertThat(EMPHASIS.matcher(DeployedFiles.read(page)).results().map(match -> match.group(1)))
          .as("%s", page)
          .isSubsetOf(known);
    }
  }

  @Test
  void everyAlertHasAUnitTestInWhichItFiresAndOneInWhichItDoesNot() {
    Set<String> firing = new TreeSet<>();
    Set<String> silent = new TreeSet<>();
    for (Path file : DeployedFiles.list(DeployedFiles.PROMETHEUS.resolve("tests"), ".yml")) {
      for (JsonNode test : DeployedFiles.yaml(file).path("tests")) {
        for (JsonNode judged : test.path("alert_rule_test")) {
          boolean fires = !judged.path("exp_alerts").isEmpty();
          (fires ? firing : silent).add(judged.path("alertname").asString());
        }
      }
    }
    Set<String> names = alerts.stream().map(Rule::name).collect(Collectors.toSet());

    assertThat(firing).containsExactlyInAnyOrderElementsOf(names);
    assertThat(silent).containsExactlyInAnyOrderElementsOf(names);
  }

  /** Otherwise a healthy release would make up for another one that is not. */
  @Test
  void everyRuleJudgesEachReleaseAlone() {
    for (Rule rule : DeployedFiles.rules()) {
      List<String> aggregations =
          AGGREGATION
              .matcher(rule.expression().toString())
              .results()
              .map(aggregation -> aggregation.group(1))
              .toList();

      assertThat(aggregations)
          .as(rule.name())
          .allMatch(
              labels -> labels != null && labels.startsWith("cluster, namespace, application"));
    }
  }

  @Test
  void everyRecordedSeriesIsUsedAndEveryUsedOneIsRecorded() {
    Set<String> recorded =
        DeployedFiles.rules().stream()
            .filter(rule -> !rule.isAlert())
            .map(Rule::name)
            .collect(Collectors.toSet());
    Set<String> used = new HashSet<>();
    DeployedFiles.rules().forEach(rule -> used.addAll(rule.expression().metrics()));
    DeployedFiles.queries()
        .forEach(query -> used.addAll(Expression.of(Grafana.filledIn(query.text())).metrics()));
    used.removeIf(name -> !name.contains(":"));

    assertThat(used).containsExactlyInAnyOrderElementsOf(recorded);
  }
}
