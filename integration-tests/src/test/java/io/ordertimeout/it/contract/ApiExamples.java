package io.ordertimeout.it.contract;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The examples of the OpenAPI document. Those in the file have the names of schemas or, of bodies
 * without a schema of their own, an operation's id and a media type. A text that begins with
 * {@code @} stands for the example of that name. Parameters have theirs by name.
 */
final class ApiExamples {

  private static final JsonNode EXAMPLES = read();

  private ApiExamples() {}

  private static JsonNode read() {
    try {
      return JsonMapper.shared()
          .readTree(Files.readString(Path.of("src/test/resources/api-examples.json")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Adds the examples to a document. */
  static void addTo(JsonNode document) {
    document
        .at("/components/schemas")
        .properties()
        .forEach(schema -> add(schema.getKey(), (ObjectNode) schema.getValue()));
    for (JsonNode operation : document.path("paths").findParents("operationId")) {
      String id = operation.path("operationId").asString();
      addToBodies(id, operation.at("/requestBody/content"));
      addToBodies(id, operation.at("/responses/200/content"));
      operation.path("parameters").forEach(parameter -> addTo((ObjectNode) parameter));
    }
  }

  /** A cursor has none, because it means nothing to its reader. */
  private static void addTo(ObjectNode parameter) {
    String name = parameter.path("name").asString();
    boolean isOrder = name.equals("id") && parameter.at("/schema/type").asString().equals("string");
    JsonNode example = EXAMPLES.at("/parameters/" + (isOrder ? "orderId" : name));
    if (!example.isMissingNode()) {
      parameter.set("example", example);
    }
  }

  private static void addToBodies(String operation, JsonNode contents) {
    contents
        .properties()
        .forEach(
            content -> add(operation + " " + content.getKey(), (ObjectNode) content.getValue()));
  }

  private static void add(String name, ObjectNode described) {
    JsonNode item = described.at("/properties/data/items/$ref");
    if (EXAMPLES.has(name)) {
      described.set("example", resolved(EXAMPLES.path(name)));
    } else if (name.endsWith("Page")) {
      ObjectNode page = described.objectNode();
      page.putArray("data").add(resolved(EXAMPLES.path(item.asString().replaceFirst(".*/", ""))));
      described.set("example", page.putNull("next"));
    }
  }

  private static JsonNode resolved(JsonNode example) {
    if (example.isString() && example.asString().startsWith("@")) {
      return resolved(EXAMPLES.path(example.asString().substring(1)));
    }
    if (example instanceof ArrayNode array) {
      ArrayNode all = array.arrayNode();
      array.forEach(item -> all.add(resolved(item)));
      return all;
    }
    if (example instanceof ObjectNode object) {
      ObjectNode all = object.objectNode();
      object.properties().forEach(field -> all.set(field.getKey(), resolved(field.getValue())));
      return all;
    }
    return example;
  }
}
