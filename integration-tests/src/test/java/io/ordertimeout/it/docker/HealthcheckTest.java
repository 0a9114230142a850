package io.ordertimeout.it.docker;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.ordertimeout.embedded.Ports;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The health check of the service's image. */
class HealthcheckTest {

  @ParameterizedTest
  @CsvSource({"200, 0", "503, 1", "404, 1"})
  void followsTheReadinessOfTheService(int status, int exit) throws IOException {
    HttpServer service =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    service.createContext(
        "/actuator/health/readiness",
        exchange -> {
          try (exchange) {
            exchange.sendResponseHeaders(status, -1);
          }
        });
    service.start();
    try {
      assertThat(healthcheck(service.getAddress().getPort())).isEqualTo(exit);
    } finally {
      service.stop(0);
    }
  }

  @Test
  void isUnhealthyIfTheServiceDoesNotListen() {
    assertThat(healthcheck(Ports.any())).isEqualTo(1);
  }

  private static int healthcheck(int port) {
    ProcessBuilder builder =
        new ProcessBuilder(ProjectFiles.dockerfile().healthcheck("order-service")).inheritIO();
    builder.environment().put("MANAGEMENT_SERVER_PORT", String.valueOf(port));
    return ProjectFiles.exitCode(builder);
  }
}
