package io.ordertimeout.it.observability;

import static org.awaitility.Awaitility.await;

import io.ordertimeout.embedded.Ports;
import io.ordertimeout.it.support.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A real Prometheus with the deployed configuration, except for the target and the intervals. */
final class PrometheusServer implements AutoCloseable {

  private static final String OFTEN = "1s";
  private static final Duration START_PATIENCE = Duration.ofMinutes(1);
  private static final Duration ANSWER_PATIENCE = Duration.ofSeconds(30);

  private final ChildProcess process;
  private final URI api;
  private final HttpClient http = HttpClient.newHttpClient();

  private PrometheusServer(ChildProcess process, URI api) {
    this.process = process;
    this.api = api;
  }

  /**
   * Starts it.
   *
   * @param folder for its configuration and what it stores
   * @param target {@code host:port} of the service
   */
  static PrometheusServer start(String logName, Path folder, String target) {
    Path file = folder.resolve("prometheus.yml");
    int port = Ports.any();
    try {
      // JSON is YAML.
      Files.writeString(file, configuration(target).toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    ChildProcess process =
        ChildProcess.start(
            logName,
            List.of(
                Tool.PROMETHEUS.path(),
                "--config.file=" + file,
                "--storage.tsdb.path=" + folder.resolve("data"),
                "--web.listen-address=127.0.0.1:" + port));
    PrometheusServer server =
        new PrometheusServer(process, URI.create("http://127.0.0.1:" + port + "/api/v1/"));
    await("Prometheus")
        .atMost(START_PATIENCE)
        .failFast("Prometheus has ended", () -> !process.isAlive())
        .ignoreExceptions()
        .until(() -> server.finds("up == 1"));
    return server;
  }

  private static JsonNode configuration(String target) {
    Path file = DeployedFiles.PROMETHEUS.resolve("prometheus.yml");
    JsonNode configuration = DeployedFiles.yaml(file);
    configuration
        .withObject("global")
        .put("scrape_interval", OFTEN)
        .put("evaluation_interval", OFTEN);
    ArrayNode ruleFiles = configuration.withArray("rule_files");
    for (int i = 0; i < ruleFiles.size(); i++) {
      ruleFiles.set(i, file.resolveSibling(ruleFiles.path(i).asString()).toString());
    }
    for (JsonNode job : configuration.path("scrape_configs")) {
      ((ObjectNode) job)
          .without("dns_sd_configs")
          .withArray("static_configs")
          .addObject()
          .withArray("targets")
          .add(target);
    }
    return configuration;
  }

  /**
   * Whether an expression has a value.
   *
   * @throws IllegalArgumentException if Prometheus rejects it
   */
  boolean finds(String expression) {
    JsonNode data =
        get("query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8)).path("data");
    return data.path("resultType").asString().equals("scalar") || !data.path("result").isEmpty();
  }

  /** The names of all series. */
  List<String> metrics() {
    return get("label/__name__/values").path("data").valueStream().map(JsonNode::asString).toList();
  }

  /** The errors of the last evaluation of the rules, by their names. */
  List<String> faultyRules() {
    return get("rules")
        .at("/data/groups")
        .valueStream()
        .flatMap(group -> group.path("rules").valueStream())
        .filter(rule -> !rule.path("health").asString().equals("ok"))
        .map(rule -> rule.path("name").asString() + ": " + rule.path("lastError").asString())
        .toList();
  }

  private JsonNode get(String path) {
    HttpRequest request =
        HttpRequest.newBuilder(api.resolve(path)).timeout(ANSWER_PATIENCE).GET().build();
    try {
      HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
      if (response.statusCode() != 200) {
        throw new IllegalArgumentException(path + ": " + response.body());
      }
      return JsonMapper.shared().readTree(response.body());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    process.kill();
  }
}
