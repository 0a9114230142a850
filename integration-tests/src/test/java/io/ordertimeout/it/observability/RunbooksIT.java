package io.ordertimeout.it.observability;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.embedded.Ports;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.json.JsonMapper;

/** The statements and requests in runbooks work as they are written there. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RunbooksIT {

  private static final Pattern SQL =
      Pattern.compile("(?m)^ *```sql\\n(?<statement>[^`]*)\\n *```$");

  private static final Pattern ENDPOINT = Pattern.compile(":8080(?<path>/api/v1/[^\\s'`?]+)");

  @AutoClose private final Scenario scenario = Scenario.create();
  private final int port = Ports.any();
  private final Service service = scenario.startService("server.port", String.valueOf(port));
  private final List<Path> pages =
      Stream.concat(
              DeployedFiles.runbooks().stream(),
              Stream.of(DeployedFiles.RUNBOOKS.resolve("README.md")))
          .toList();

  @Test
  void statementsRunOnTheServicesSchema() throws SQLException {
    service.awaitReady(true);
    Map<String, String> statements = new TreeMap<>();
    for (Path page : pages) {
      SQL.matcher(DeployedFiles.read(page))
          .results()
          .forEach(block -> statements.put(block.group(1), page.toString()));
    }
    assertThat(statements).hasSizeGreaterThan(10);

    try (Connection connection = scenario.database().connect();
        Statement statement = connection.createStatement()) {
      connection.setReadOnly(true);
      for (Map.Entry<String, String> sql : statements.entrySet()) {
        try {
          statement.execute(sql.getKey());
        } catch (SQLException e) {
          throw new SQLException(sql.getValue() + ": " + sql.getKey(), e);
        }
      }
    }
  }

  @Test
  void endpointsExist() throws IOException, InterruptedException {
    List<Pattern> known =
        JsonMapper.shared().readTree(description()).path("paths").propertyNames().stream()
            .map(path -> Pattern.compile(path.replaceAll("\\{[^}]*}", "[^/]+")))
            .toList();
    Set<String> named = new TreeSet<>();
    for (Path page : pages) {
      ENDPOINT
          .matcher(DeployedFiles.read(page))
          .results()
          .forEach(match -> named.add(match.group(1)));
    }

    assertThat(named).hasSizeGreaterThan(10);
    assertThat(named)
        .allMatch(path -> known.stream().anyMatch(pattern -> pattern.matcher(path).matches()));
  }

  private String description() throws IOException, InterruptedException {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(
                    URI.create("http://127.0.0.1:" + port + "/contracts/openapi.json"))
                .build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }
}
