package io.ordertimeout.local;

import io.ordertimeout.embedded.EmbeddedPlatform;
import io.ordertimeout.embedded.Passwords;
import io.ordertimeout.embedded.Ports;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.json.JsonMapper;

/**
 * Runs the service from its jar, in a JVM of its own, under simulated traffic. When it ends, that
 * JVM writes the classes that it has loaded and, from JDK 25 on, what it has learnt about the code,
 * for later ones to start with.
 */
final class TrainingRun implements AutoCloseable {

  private static final int FIRST_JDK_WITH_CACHE = 25;
  private static final Duration START_PATIENCE = Duration.ofMinutes(3);

  /** Writing the file means compressing and linking all classes. */
  private static final Duration END_PATIENCE = Duration.ofMinutes(5);

  private static final Duration PROBE_INTERVAL = Duration.ofSeconds(1);

  /** Short times to pay, so that orders come due in a short run, too. */
  private static final LocalOptions.Traffic TRAFFIC =
      new LocalOptions.Traffic(
          true,
          300,
          Duration.ofSeconds(2),
          Duration.ofSeconds(8),
          Duration.ofSeconds(8),
          0.6,
          true,
          1L);

  /** So many orders come due at once in the middle of the run. */
  private static final int BURST = 10_000;

  private final LocalOptions.Training options;
  private final Clock clock;
  private final PrintStream out;
  private final HttpClient http = HttpClient.newHttpClient();
  private final int port = Ports.any();
  private final int managementPort = Ports.any();
  private final EmbeddedPlatform platform = EmbeddedPlatform.startTemporary();
  private final String password =
      Passwords.loadOrCreate(platform.dataDirectory().resolve("operator-password"));
  private final Process service;

  private TrainingRun(LocalOptions.Training options, Clock clock, PrintStream out)
      throws IOException {
    this.options = options;
    this.clock = clock;
    this.out = out;
    try {
      this.service = startService();
    } catch (IOException | RuntimeException e) {
      platform.close();
      throw e;
    }
  }

  /**
   * Runs the service and its traffic for the given time, and returns once the file is written.
   *
   * @throws IllegalStateException if the service ends too early, or writes no file
   */
  static void run(LocalOptions.Training options, Clock clock, PrintStream out) {
    out.printf(
        "Training %s for %d s; writing %s%n",
        options.jar(), options.duration().toSeconds(), options.output());
    try (TrainingRun run = new TrainingRun(options, clock, out)) {
      run.train();
      run.end();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Process startService() throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options.jvmOptions());
    command.add(
        (Runtime.version().feature() >= FIRST_JDK_WITH_CACHE
                ? "-XX:AOTCacheOutput="
                : "-XX:ArchiveClassesAtExit=")
            + options.output());
    command.add("-jar");
    command.add(options.jar().toString());
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    Map<String, Object> settings =
        RunningService.settings(platform, 6, Integer.MAX_VALUE, port, managementPort, password);
    builder
        .environment()
        .put("SPRING_APPLICATION_JSON", JsonMapper.shared().writeValueAsString(settings));
    return builder.redirectOutput(ProcessBuilder.Redirect.INHERIT).start();
  }

  private void train() throws InterruptedException {
    Instant patience = clock.instant().plus(START_PATIENCE);
    while (status(managementPort, "/actuator/health/readiness") != 200) {
      if (clock.instant().isAfter(patience)) {
        throw new IllegalStateException("The service was not ready within " + START_PATIENCE);
      }
      pause();
    }
    Instant end = clock.instant().plus(options.duration());
    try (ShopTraffic traffic = ShopTraffic.to(platform.bootstrapServers(), TRAFFIC, 1, clock)) {
      traffic.start();
      sendBurst(traffic, clock.instant().plus(options.duration().dividedBy(2)));
      while (clock.instant().isBefore(end)) {
        status(managementPort, "/actuator/prometheus");
        status(port, "/api/v1/overview");
        status(port, "/api/v1/orders");
        pause();
      }
    }
  }

  private void sendBurst(ShopTraffic traffic, Instant due) {
    Instant created = clock.instant().truncatedTo(ChronoUnit.MILLIS);
    for (int i = 0; i < BURST; i++) {
      traffic.send(
          new ShopEvent.Created(
              "burst-" + i,
              created,
              Duration.between(created, due),
              "web",
              "card",
              new ShopEvent.Amount(BigDecimal.TEN, "EUR")));
    }
  }

  /** Returns the status of a GET request; 0 if the service does not answer. */
  private int status(int ofPort, String path) throws InterruptedException {
    if (!service.isAlive()) {
      throw new IllegalStateException("The service ended with " + service.exitValue());
    }
    String credentials = "operator:" + password;
    try {
      return http.send(
              HttpRequest.newBuilder(URI.create("http://" + Ports.LOOPBACK + ":" + ofPort + path))
                  .header(
                      "Authorization",
                      "Basic "
                          + Base64.getEncoder()
                              .encodeToString(credentials.getBytes(StandardCharsets.UTF_8)))
                  .build(),
              HttpResponse.BodyHandlers.discarding())
          .statusCode();
    } catch (IOException notYet) {
      return 0;
    }
  }

  private static void pause() throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(PROBE_INTERVAL.toMillis());
  }

  /** Has the service stop in an orderly way, at which it writes the file. */
  private void end() throws IOException, InterruptedException {
    service.destroy();
    if (!service.waitFor(END_PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      throw new IllegalStateException("The service has not ended within " + END_PATIENCE);
    }
    if (!Files.exists(options.output())) {
      throw new IllegalStateException("The service has not written " + options.output());
    }
    out.printf("Wrote %s: %d MB%n", options.output(), Files.size(options.output()) >> 20);
  }

  @Override
  public void close() {
    service.destroyForcibly();
    platform.close();
  }
}
