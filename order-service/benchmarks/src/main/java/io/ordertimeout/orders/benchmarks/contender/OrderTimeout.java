package io.ordertimeout.orders.benchmarks.contender;

import io.ordertimeout.embedded.Ports;
import io.ordertimeout.orders.benchmarks.servers.ChildJvm;
import io.ordertimeout.orders.benchmarks.servers.Waiting;
import io.ordertimeout.orders.benchmarks.traffic.Shop;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** An instance of the order service, from its jar, with its defaults. */
public final class OrderTimeout implements Contender {

  private static final Duration START_PATIENCE = Duration.ofMinutes(10);
  private static final Duration ANSWER_PATIENCE = Duration.ofSeconds(10);

  private final ServiceProgram program;
  private final Shop shop;
  private final String name;
  private final Map<String, String> otherSettings;
  private final HttpClient http = HttpClient.newHttpClient();
  private final int managementPort = Ports.any();
  private @Nullable ChildJvm process;

  public OrderTimeout(ServiceProgram program, Shop shop) {
    this(program, shop, shop.name(), Map.of());
  }

  /**
   * Creates an instance of a shop that may have several.
   *
   * @param name of its log file
   * @param otherSettings settings that differ from the defaults
   */
  public OrderTimeout(
      ServiceProgram program, Shop shop, String name, Map<String, String> otherSettings) {
    this.program = program;
    this.shop = shop;
    this.name = name;
    this.otherSettings = Map.copyOf(otherSettings);
  }

  @Override
  public void start() {
    start(START_PATIENCE);
  }

  /** Starts it; returns when it is ready to serve, which may take that long. */
  public void start(Duration patience) {
    List<String> arguments = new ArrayList<>();
    settings().forEach((setting, value) -> arguments.add("--" + setting + "=" + value));
    ChildJvm started =
        ChildJvm.ofJar(log(), program.heap(), program.options(), program.jar(), arguments);
    process = started;
    AtomicBoolean ready = new AtomicBoolean();
    Waiting.until(
        () -> {
          ready.set(isReady());
          return ready.get() || !started.isAlive();
        },
        patience);
    if (!ready.get()) {
      throw new IllegalStateException("The service has not become ready, see " + log());
    }
  }

  private Map<String, String> settings() {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("spring.datasource.url", shop.database().url());
    settings.put("spring.datasource.username", shop.database().user());
    settings.put("spring.datasource.password", shop.database().password());
    settings.put("spring.kafka.bootstrap-servers", shop.servers().bootstrapServers());
    settings.put("server.address", Ports.LOOPBACK);
    settings.put("server.port", "0");
    settings.put("management.server.address", Ports.LOOPBACK);
    settings.put("management.server.port", String.valueOf(managementPort));
    settings.put("order-timeout.intake.group-id", shop.group());
    settings.put("order-timeout.topics.created", shop.created());
    settings.put("order-timeout.topics.paid", shop.paid());
    settings.put("order-timeout.topics.closed", shop.topic("order-closed"));
    settings.put("order-timeout.topics.cancelled", shop.cancelled());
    settings.put("order-timeout.topics.conflict", shop.topic("order-payment-conflict"));
    settings.put("order-timeout.topics.create-missing", "true");
    settings.put("order-timeout.topics.partitions", String.valueOf(shop.partitions()));
    settings.putAll(otherSettings);
    return settings;
  }

  @Override
  public List<ChildJvm> processes() {
    return process == null ? List.of() : List.of(process);
  }

  private boolean isReady() {
    try {
      return get("health/readiness").statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  /** The sum of a metric over its series; 0 if there are none. */
  public double metric(String name) {
    try {
      return get("prometheus")
          .body()
          .lines()
          .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
          .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
          .sum();
    } catch (IOException e) {
      throw new IllegalStateException("The service does not answer", e);
    }
  }

  /** When the process that runs owned its shards, by its log. */
  public Instant owningShardsSince() {
    try (Stream<String> lines = Files.lines(log())) {
      return lines
          .filter(line -> line.contains("This instance owns shards ["))
          .reduce((former, latter) -> latter)
          .map(line -> OffsetDateTime.parse(line.substring(0, line.indexOf(' '))).toInstant())
          .orElseThrow(() -> new IllegalStateException("No shards are owned, see " + log()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Path log() {
    return shop.servers().directory().resolve(name + ".log");
  }

  private HttpResponse<String> get(String path) throws IOException {
    URI uri = URI.create("http://" + Ports.LOOPBACK + ":" + managementPort + "/actuator/" + path);
    try {
      return http.send(
          HttpRequest.newBuilder(uri).timeout(ANSWER_PATIENCE).build(),
          HttpResponse.BodyHandlers.ofString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Ends it as a power failure does. */
  public void kill() {
    if (process != null) {
      process.kill();
    }
  }

  @Override
  public void close() {
    if (process != null) {
      process.close();
    }
  }
}
