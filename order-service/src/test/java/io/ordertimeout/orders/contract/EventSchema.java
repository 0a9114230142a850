package io.ordertimeout.orders.contract;

import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.stream.StreamSupport;
import org.springframework.core.io.ClassPathResource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The published JSON Schema of a topic's events. */
public final class EventSchema {

  private static final String DIRECTORY = "static/contracts/";

  private final JsonNode document;
  private final Schema schema;

  private EventSchema(JsonNode document) {
    this.document = document;
    this.schema =
        SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12).getSchema(document);
  }

  /** Reads the schema of the topic with that default name. */
  public static EventSchema of(String topic) {
    return new EventSchema(document(topic + ".schema.json"));
  }

  /** Reads a document of the contracts. */
  public static JsonNode document(String fileName) {
    try {
      return JsonMapper.shared()
          .readTree(
              new ClassPathResource(DIRECTORY + fileName)
                  .getContentAsString(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  JsonNode document() {
    return document;
  }

  /** What contradicts the schema in an event. */
  public List<String> faults(String json) {
    return schema
        .validate(
            json,
            InputFormat.JSON,
            context -> context.executionConfig(config -> config.formatAssertionsEnabled(true)))
        .stream()
        .map(String::valueOf)
        .toList();
  }

  /** The examples in the schema. */
  public List<String> examples() {
    return StreamSupport.stream(document.path("examples").spliterator(), false)
        .map(JsonNode::toString)
        .toList();
  }

  /** The names of all fields. */
  public Set<String> fields() {
    return Set.copyOf(document.path("properties").propertyNames());
  }
}
