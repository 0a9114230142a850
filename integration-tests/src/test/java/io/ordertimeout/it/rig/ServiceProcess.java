package io.ordertimeout.it.rig;

import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The service as a process of its own, started from its jar, which can be killed. */
public final class ServiceProcess implements AutoCloseable {

  private static final Duration START_PATIENCE = Duration.ofSeconds(90);

  private final Process process;
  private final HttpClient http = HttpClient.newHttpClient();
  private final URI readiness;

  private ServiceProcess(Process process, int managementPort) {
    this.process = process;
    this.readiness =
        URI.create("http://127.0.0.1:" + managementPort + "/actuator/health/readiness");
  }

  /** Starts it; what it logs is added to a file of that name. */
  public static ServiceProcess start(String logName, Map<String, String> settings) {
    int port = freePort();
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx256m");
    command.add("-jar");
    command.add(System.getProperty("service.jar"));
    // Readiness is asked for from outside, so the port has to be known.
    Map<String, String> all = new LinkedHashMap<>(settings);
    all.put("management.server.port", String.valueOf(port));
    all.forEach((name, value) -> command.add("--" + name + "=" + value));
    try {
      File log =
          Files.createDirectories(Path.of(System.getProperty("service.logs")))
              .resolve(logName + ".log")
              .toFile();
      return new ServiceProcess(
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(log))
              .start(),
          port);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until it says that it owns its shards and has rebuilt them. */
  public void awaitReady() {
    await("readiness")
        .atMost(START_PATIENCE)
        .pollInterval(Duration.ofMillis(250))
        .failFast("the service has ended", () -> !process.isAlive())
        .until(this::isReady);
  }

  private boolean isReady() throws InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(readiness).timeout(Duration.ofSeconds(5)).GET().build();
    try {
      return http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  /** Ends it as a power cut does (SIGKILL). */
  public void kill() {
    process.destroyForcibly();
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    kill();
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
