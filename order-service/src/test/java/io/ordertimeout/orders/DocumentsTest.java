package io.ordertimeout.orders;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class DocumentsTest {

  private static final String PREFIX = "order-timeout.";

  @Test
  void listsEveryPropertyWithItsDefaultAndMeaning() throws IOException {
    List<String> listed =
        Files.readAllLines(Path.of("../README.md")).stream()
            .filter(line -> line.startsWith("| `" + PREFIX))
            .toList();

    assertThat(listed).containsExactlyElementsOf(properties());
  }

  private static List<String> properties() throws IOException {
    List<String> rows = new ArrayList<>();
    try (InputStream metadata =
        OrderTimeoutProperties.class.getResourceAsStream(
            "/META-INF/spring-configuration-metadata.json")) {
      JsonNode root = JsonMapper.shared().readTree(Objects.requireNonNull(metadata));
      for (JsonNode property : root.path("properties")) {
        String name = property.path("name").asString();
        if (name.startsWith(PREFIX)) {
          rows.add(row(name, property));
        }
      }
    }
    rows.sort(null);
    return rows;
  }

  private static String row(String name, JsonNode property) {
    JsonNode value = property.path("defaultValue");
    String shown = value.isValueNode() ? "`" + value.asString() + "`" : "";
    String meaning = property.path("description").asString().replaceAll("\\s+", " ").trim();
    return "| `%s` | %s | %s |".formatted(name, shown, meaning);
  }
}
