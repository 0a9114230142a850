package io.ordertimeout.it.support;

import static org.awaitility.Awaitility.await;

import io.ordertimeout.embedded.Ports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.databind.json.JsonMapper;

/** The service as a process of its own, which can be killed and frozen. */
public final class ServiceProcess implements Instance, AutoCloseable {

  private static final Duration START_PATIENCE = Duration.ofMinutes(5);
  private static final Duration STOP_PATIENCE = Duration.ofMinutes(1);
  private static final Duration ANSWER_PATIENCE = Duration.ofSeconds(5);

  private final ChildProcess process;
  private final HttpClient http = HttpClient.newHttpClient();
  private final URI management;

  private ServiceProcess(ChildProcess process, int managementPort) {
    this.process = process;
    this.management = URI.create("http://127.0.0.1:" + managementPort + "/actuator/");
  }

  /** Starts the service; its output is appended to the log file of that name. */
  public static ServiceProcess start(
      String logName, List<String> jvmOptions, Map<String, String> settings) {
    return startCommand(logName, ServiceLauncher.service(jvmOptions), settings);
  }

  /** Starts what is in a jar. */
  static ServiceProcess startJar(String logName, Path jar, Map<String, String> settings) {
    return startCommand(logName, ServiceLauncher.jar(List.of("-Xmx256m"), jar), settings);
  }

  static ServiceProcess startCommand(
      String logName, List<String> command, Map<String, String> settings) {
    int port = Ports.any();
    // The test queries readiness, so it has to know the port.
    Map<String, String> all = new LinkedHashMap<>(settings);
    all.put("management.server.port", String.valueOf(port));
    List<String> complete = new ArrayList<>(command);
    all.forEach((name, value) -> complete.add("--" + name + "=" + value));
    return new ServiceProcess(ChildProcess.start(logName, complete), port);
  }

  /** Waits until it reports that it owns its shards and has rebuilt them. */
  public void awaitReady() {
    await("readiness")
        .atMost(START_PATIENCE)
        .pollInterval(Duration.ofMillis(250))
        .failFast("the service has ended", () -> !process.isAlive())
        .until(this::isReady);
  }

  public boolean isReady() {
    try {
      return get("health/readiness").statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public int ownedShards() {
    try {
      return (int) metric("order_timeout_owned_shards").orElse(0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * What an instance reports of itself.
   *
   * @param shards the shards that it owns
   */
  public record Readiness(boolean ready, Set<Integer> shards) {}

  /** Whether it is ready, and its shards; neither if it does not answer. */
  public Readiness readiness() {
    try {
      HttpResponse<String> answer = get("health/readiness");
      Set<Integer> shards = new TreeSet<>();
      JsonMapper.shared()
          .readTree(answer.body())
          .at("/components/ownedShards/details/owned")
          .forEach(shard -> shards.add(shard.asInt()));
      return new Readiness(answer.statusCode() == 200, shards);
    } catch (IOException e) {
      return new Readiness(false, Set.of());
    }
  }

  /**
   * The sum of a metric over those of its series that have the labels, given as {@code
   * name="value"}; empty if the service exports none.
   *
   * @throws IOException if the service does not answer
   */
  public OptionalDouble metric(String name, String... labels) throws IOException {
    return Exposition.sum(exposition(), name, labels);
  }

  /**
   * The metrics in the text format of Prometheus.
   *
   * @throws IOException if the service does not answer
   */
  public String exposition() throws IOException {
    return get("prometheus").body();
  }

  /** {@code host:port} of the address that exports the metrics. */
  public String managementAddress() {
    return management.getAuthority();
  }

  private HttpResponse<String> get(String path) throws IOException {
    HttpRequest request =
        HttpRequest.newBuilder(management.resolve(path)).timeout(ANSWER_PATIENCE).GET().build();
    try {
      return http.send(request, HttpResponse.BodyHandlers.ofString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  public long pid() {
    return process.pid();
  }

  /** Kills it (SIGKILL), as a power failure does. */
  public void kill() {
    process.kill();
  }

  /** Stops it gracefully (SIGTERM); kills it otherwise. Returns whether it ended by itself. */
  public boolean stop() {
    return process.stop(STOP_PATIENCE);
  }

  /** Suspends it (SIGSTOP): no heartbeats, no responses, and no errors either. */
  public void freeze() {
    process.signal("STOP");
  }

  /** Resumes it (SIGCONT), as if no time had passed. */
  public void thaw() {
    process.signal("CONT");
  }

  @Override
  public void close() {
    kill();
  }
}
