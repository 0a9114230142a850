package io.ordertimeout.it.contract;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** The OpenAPI document, with short names, with examples, and in a stable order. */
final class ApiDocument {

  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(
              SerializationFeature.INDENT_OUTPUT, SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
          .build();

  private static final String PREFIX = "#/components/schemas/";

  private ApiDocument() {}

  /** Returns the document, given one in which schemas have the names of Java types. */
  static String from(String raw) {
    JsonNode document = JSON.readTree(raw);
    Map<String, String> names = new TreeMap<>();
    Map<String, Long> uses =
        document.at("/components/schemas").propertyNames().stream()
            .collect(Collectors.groupingBy(ApiDocument::simpleName, Collectors.counting()));
    for (String name : document.at("/components/schemas").propertyNames()) {
      boolean isUnique = uses.getOrDefault(simpleName(name), 0L) == 1;
      names.put(name, isUnique ? simpleName(name) : nestedName(name));
    }
    String text = raw;
    for (Map.Entry<String, String> name : names.entrySet()) {
      text =
          text.replace("\"" + PREFIX + name.getKey() + "\"", "\"" + PREFIX + name.getValue() + "\"")
              .replace("\"" + name.getKey() + "\":", "\"" + name.getValue() + "\":");
    }
    JsonNode result = JSON.readTree(text);
    ApiExamples.addTo(result);
    return JSON.writeValueAsString(JSON.treeToValue(result, Map.class)) + "\n";
  }

  /** The name of a type, after those of its type arguments. */
  private static String simpleName(String schema) {
    int argument = schema.indexOf("Io.ordertimeout.");
    return argument < 0
        ? schema.substring(schema.lastIndexOf('.') + 1)
        : schema.substring(schema.lastIndexOf('.') + 1) + simpleName(schema.substring(0, argument));
  }

  /** The names of a type and of the one that it belongs to. */
  private static String nestedName(String schema) {
    String[] parts = schema.split("\\.", -1);
    return parts[parts.length - 2] + parts[parts.length - 1];
  }
}
