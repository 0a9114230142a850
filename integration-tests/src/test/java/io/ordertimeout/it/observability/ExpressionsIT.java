package io.ordertimeout.it.observability;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.embedded.Ports;
import io.ordertimeout.it.observability.DeployedFiles.Query;
import io.ordertimeout.it.observability.DeployedFiles.Rule;
import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.ServiceProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * The queries of dashboards and rules have results for a service under load, scraped by a real
 * Prometheus. Otherwise a misspelt name or a removed metric would go unnoticed.
 */
@Tag("prometheus")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(25)
class ExpressionsIT {

  private static final Pattern OWN_METRIC = Pattern.compile("`(?<name>order_timeout_[a-z_]+)[`{]");

  /** Metrics that runbooks name without the suffix of their series. */
  private static final Set<String> HISTOGRAMS =
      Set.of("order_timeout_lateness_seconds", "order_timeout_decision_delay_seconds");

  /** Metrics of Prometheus itself, which the service does not export. */
  private static final Set<String> OF_PROMETHEUS = Set.of("up", "ALERTS");

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private PrometheusServer prometheus;
  private Load load;

  @BeforeAll
  void start(@TempDir Path folder) throws IOException, InterruptedException {
    Scenario scenario = opened(Scenario.withAllTopics());
    int port = Ports.any();
    ServiceProcess service =
        opened(
            scenario.startProcess(
                "server.port", String.valueOf(port),
                "order-timeout.deadline.policies[0].name", "web",
                "order-timeout.deadline.policies[0].channel", "web",
                "order-timeout.deadline.policies[0].timeout", "1h",
                "order-timeout.deadline.policies[0].warnings[0]", "1s"));
    service.awaitReady();
    suspendAnOrder(scenario, Http.at(port));
    prometheus =
        opened(
            PrometheusServer.start(
                scenario.name() + "-prometheus", folder, service.managementAddress()));
    load = opened(Load.start(scenario));
  }

  /**
   * Has an operator pause a channel of the shop; some metrics exist only while there is a pause.
   */
  private static void suspendAnOrder(Scenario scenario, Http http) {
    String channel = "paused";
    http.operator()
        .post(
            "/api/v1/pauses",
            Map.of("channel", channel, "moveDeadlines", false, "reason", "its provider is down"))
        .assertOk();
    Map<String, ?> amount = Map.of("value", 19.9, "currency", "EUR");
    scenario
        .shop()
        .created("suspended", Map.of("timeout", "PT1S", "channel", channel, "amount", amount));
  }

  private <T extends AutoCloseable> T opened(T closeable) {
    opened.push(closeable);
    return closeable;
  }

  @AfterAll
  void close() throws Exception {
    while (!opened.isEmpty()) {
      opened.pop().close();
    }
  }

  @Test
  void everyPanelHasAResult() {
    assertAllFind(
        DeployedFiles.queries().stream()
            .collect(
                Collectors.toMap(
                    Query::name,
                    query -> Grafana.filledIn(query.text()),
                    (one, other) -> other,
                    LinkedHashMap::new)));
  }

  @Test
  void everyRecordingRuleRecordsAResult() {
    Map<String, String> expressions = new LinkedHashMap<>();
    for (Rule rule : DeployedFiles.rules()) {
      if (!rule.isAlert()) {
        expressions.put(rule.name(), rule.expression().toString());
        expressions.put(rule.name() + ", as recorded", rule.name());
      }
    }
    assertAllFind(expressions);
  }

  @Test
  void everyAlertFindsItsMetrics() {
    Map<String, String> expressions = new LinkedHashMap<>();
    DeployedFiles.alerts()
        .forEach(alert -> expressions.put(alert.name(), alert.expression().withoutConditions()));
    assertAllFind(expressions);
  }

  @Test
  void everyRuleIsEvaluatedWithoutAnError() {
    await("rules without a fault")
        .untilAsserted(() -> assertThat(prometheus.faultyRules()).isEmpty());
  }

  @Test
  void everyMetricInAQueryIsExported() {
    Set<String> asked = new TreeSet<>();
    DeployedFiles.queries()
        .forEach(query -> asked.addAll(Expression.of(Grafana.filledIn(query.text())).metrics()));
    DeployedFiles.rules().forEach(rule -> asked.addAll(rule.expression().metrics()));
    asked.removeAll(OF_PROMETHEUS);

    assertAllExist(asked);
  }

  @Test
  void everyMetricInARunbookIsExported() {
    Set<String> named = new TreeSet<>();
    DeployedFiles.runbooks()
        .forEach(
            page ->
                OWN_METRIC
                    .matcher(DeployedFiles.read(page))
                    .results()
                    .map(match -> match.group(1))
                    .map(name -> HISTOGRAMS.contains(name) ? name + "_count" : name)
                    .forEach(named::add));

    assertAllExist(named);
  }

  private void assertAllExist(Set<String> names) {
    assertThat(names).isNotEmpty();
    Set<String> missing = new TreeSet<>(names);
    awaitEmpty(
        missing,
        () -> {
          missing.clear();
          missing.addAll(names);
          prometheus.metrics().forEach(missing::remove);
        });
    assertThat(missing).as("metrics that are asked for but not exported").isEmpty();
  }

  /** Waits until every expression that is not empty in a healthy service has a result. */
  private void assertAllFind(Map<String, String> expressions) {
    assertThat(expressions).isNotEmpty();
    Map<String, String> empty = new LinkedHashMap<>(expressions);
    empty.keySet().removeAll(DeployedFiles.emptyWhenHealthy().keySet());
    awaitEmpty(empty.keySet(), () -> empty.values().removeIf(prometheus::finds));
    assertThat(load.isRunning()).as("the shop goes on").isTrue();
    assertThat(empty).as("expressions that find nothing").isEmpty();
  }

  private static void awaitEmpty(Set<String> names, Runnable look) {
    try {
      await()
          .until(
              () -> {
                look.run();
                return names.isEmpty();
              });
    } catch (ConditionTimeoutException e) {
      // The condition names the expressions without a result.
    }
  }
}
