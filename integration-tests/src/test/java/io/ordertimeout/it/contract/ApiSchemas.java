package io.ordertimeout.it.contract;

import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What the OpenAPI document says of bodies. It is read strictly: a field that it does not describe
 * is a fault, although clients have to ignore it.
 */
final class ApiSchemas {

  static final Path DOCUMENT =
      Path.of("../order-service/src/main/resources/static/contracts/openapi.json");

  private static final SchemaRegistry REGISTRY =
      SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);

  private final JsonNode document;
  private final JsonNode strict;
  private final Map<String, JsonNode> operations = new TreeMap<>();
  private final Map<String, Pattern> paths = new TreeMap<>();

  private ApiSchemas(JsonNode document) {
    this.document = document;
    this.strict = strict(document.at("/components/schemas"));
    document
        .path("paths")
        .properties()
        .forEach(
            path -> {
              paths.put(
                  path.getKey(), Pattern.compile(path.getKey().replaceAll("\\{[^}]+}", "[^/]+")));
              path.getValue()
                  .properties()
                  .forEach(
                      method ->
                          operations.put(
                              method.getKey().toUpperCase(Locale.ROOT) + " " + path.getKey(),
                              method.getValue()));
            });
  }

  /** Reads the document. */
  static ApiSchemas read() {
    try {
      return new ApiSchemas(JsonMapper.shared().readTree(Files.readString(DOCUMENT)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The whole document. */
  JsonNode document() {
    return document;
  }

  /**
   * Returns a schema of OpenAPI 3.0 as one of JSON Schema 2020-12, and refuses fields that are not
   * described.
   */
  private JsonNode strict(JsonNode node) {
    if (node instanceof ArrayNode array) {
      ArrayNode result = array.arrayNode();
      array.forEach(item -> result.add(strict(item)));
      return result;
    }
    if (!(node instanceof ObjectNode object)) {
      return node;
    }
    if (object.path("$ref").isString()) {
      return reference(object.path("$ref").asString().replaceFirst(".*/", ""));
    }
    if (object.path("allOf").size() > 1) {
      return strict(merged(object.path("allOf")));
    }
    if (object.at("/discriminator/mapping").isObject()) {
      return alternatives(object.path("discriminator"));
    }
    ObjectNode result = object.objectNode();
    object.properties().forEach(field -> result.set(field.getKey(), strict(field.getValue())));
    result.remove("example");
    if (result.path("type").isString() && result.path("properties").isObject()) {
      result.put("additionalProperties", false);
    }
    if (result.path("nullable").isBoolean()) {
      result.remove("nullable");
      ObjectNode nullable = object.objectNode();
      nullable.putArray("anyOf").add(result).addObject().put("type", "null");
      return nullable;
    }
    return result;
  }

  /** An object with the fields of all parts. */
  private ObjectNode merged(JsonNode parts) {
    ObjectNode merged = JsonMapper.shared().createObjectNode().put("type", "object");
    ObjectNode properties = merged.putObject("properties");
    ArrayNode required = merged.putArray("required");
    for (JsonNode part : parts) {
      JsonNode fields =
          part.has("$ref") ? document.at(part.path("$ref").asString().substring(1)) : part;
      properties.setAll((ObjectNode) fields.path("properties"));
      fields.path("required").forEach(required::add);
    }
    return merged;
  }

  /** One of several objects, by the value of one field. */
  private static ObjectNode alternatives(JsonNode discriminator) {
    ObjectNode result = JsonMapper.shared().createObjectNode();
    ArrayNode alternatives = result.putArray("oneOf");
    discriminator
        .path("mapping")
        .properties()
        .forEach(
            entry -> {
              ObjectNode alternative =
                  reference(entry.getValue().asString().replaceFirst(".*/", ""));
              alternatives.add(alternative);
              alternative
                  .putObject("properties")
                  .putObject(discriminator.path("propertyName").asString())
                  .put("const", entry.getKey());
            });
    return result;
  }

  /** The operations, each as its method and path. */
  Map<String, JsonNode> operations() {
    return operations;
  }

  /** The operation of a request; fails if there is none. */
  String operation(String method, String path) {
    return paths.entrySet().stream()
        .filter(entry -> entry.getValue().matcher(path).matches())
        .map(entry -> method + " " + entry.getKey())
        .filter(operations::containsKey)
        .findFirst()
        .orElseThrow(() -> new AssertionError("not in the document: " + method + " " + path));
  }

  /** The bodies of requests and successes, by operation and media type. */
  Map<String, JsonNode> contents() {
    Map<String, JsonNode> contents = new TreeMap<>();
    operations.forEach(
        (name, operation) -> {
          for (String body : List.of("/requestBody", "/responses/200")) {
            operation
                .at(body + "/content")
                .properties()
                .forEach(
                    content ->
                        contents.put(name + body + " " + content.getKey(), content.getValue()));
          }
        });
    return contents;
  }

  /** The schemas, by name. */
  JsonNode schemas() {
    return document.at("/components/schemas");
  }

  /**
   * What contradicts the document in a response.
   *
   * @param mediaType without parameters; empty if the response has no body
   */
  List<String> faults(String operation, int status, String mediaType, String body) {
    String where = operation + " " + status + " " + mediaType;
    JsonNode response =
        operations
            .getOrDefault(operation, MissingNode.getInstance())
            .path("responses")
            .path(Integer.toString(status));
    if (response.isMissingNode()) {
      return List.of(where + ": the document has no such status");
    }
    JsonNode contents = response.path("content");
    if (body.isEmpty() && contents.isMissingNode()) {
      return List.of();
    }
    JsonNode content = contents.path(mediaType);
    if (content.isMissingNode()) {
      return List.of(where + ": the document has only " + contents.propertyNames());
    }
    return switch (mediaType) {
      case "text/event-stream" ->
          faults(
              where,
              reference("Now"),
              body.replaceFirst("(?s).*?\ndata:", "").replaceFirst("(?s)\n\n.*", ""));
      case "text/csv" -> List.of();
      default -> faults(where, content.path("schema"), body);
    };
  }

  /** What contradicts a schema of the document in a JSON value. */
  List<String> faults(String where, JsonNode schema, String json) {
    ObjectNode root = JsonMapper.shared().createObjectNode();
    root.putArray("allOf").add(strict(schema));
    root.set("$defs", strict);
    List<String> faults = new ArrayList<>();
    REGISTRY
        .getSchema(root)
        .validate(
            json,
            InputFormat.JSON,
            context -> context.executionConfig(config -> config.formatAssertionsEnabled(true)))
        .forEach(fault -> faults.add(where + ": " + fault));
    return faults;
  }

  private static ObjectNode reference(String schema) {
    return JsonMapper.shared().createObjectNode().put("$ref", "#/$defs/" + schema);
  }
}
