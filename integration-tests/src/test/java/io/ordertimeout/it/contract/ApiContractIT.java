package io.ordertimeout.it.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * The OpenAPI document is what the service's endpoints are. {@code -Dcontracts.rewrite=true}
 * rewrites it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ApiContractIT {

  private static final Path DOCUMENT =
      Path.of("../order-service/src/main/resources/static/contracts/openapi.json");

  private final Scenario scenario = Scenario.create();
  private final Service service =
      scenario.startService(
          Scenario.API_DESCRIPTION,
          "true",
          "springdoc.api-docs.path",
          "/api/v1/described",
          "springdoc.api-docs.version",
          "openapi_3_0",
          "springdoc.use-fqn",
          "true",
          // The components of a record are query parameters.
          "springdoc.default-flat-param-object",
          "true",
          "spring.main.sources",
          ApiDescription.class.getName());

  @AfterAll
  void close() {
    service.close();
    scenario.close();
  }

  @Test
  void theDocumentIsWhatTheEndpointsAre() throws IOException {
    String raw = service.http().viewer().get("/api/v1/described").assertOk().response().body();
    Files.writeString(Path.of("target/openapi-raw.json"), raw);
    String generated = ApiDocument.from(raw);
    if (Boolean.getBoolean("contracts.rewrite")) {
      Files.writeString(DOCUMENT, generated);
    }
    assertThat(Files.readString(DOCUMENT))
        .as("rewrite it with -Dcontracts.rewrite=true")
        .isEqualTo(generated);
  }
}
