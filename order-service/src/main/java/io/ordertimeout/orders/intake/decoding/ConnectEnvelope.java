package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.platform.values.ConnectTypes;
import java.time.DateTimeException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * What Kafka Connect's JsonConverter writes with {@code schemas.enable=true}: an object with a
 * {@code schema} and a {@code payload}. Numbers that the schema names as times or durations become
 * the text that they mean.
 */
final class ConnectEnvelope {

  /** Structs may be nested; deeper ones have no field that anybody asks for. */
  private static final int MAX_DEPTH = 32;

  private ConnectEnvelope() {}

  /** Returns the value without an envelope, which is typed if it had one. */
  static DecodedValue open(DecodedValue value) {
    JsonNode tree = value.tree();
    return isEnvelope(tree)
        ? new DecodedValue(typed(tree.path("schema"), tree.path("payload"), 0), value.type(), true)
        : value;
  }

  /** Returns the payload of a key or of a value. */
  static JsonNode payload(JsonNode tree) {
    return isEnvelope(tree) ? tree.path("payload") : tree;
  }

  private static boolean isEnvelope(JsonNode tree) {
    return tree.isObject() && tree.size() == 2 && tree.has("schema") && tree.has("payload");
  }

  private static JsonNode typed(JsonNode schema, JsonNode value, int depth) {
    if (value.isIntegralNumber() && value.canConvertToLong()) {
      return typed(schema.path("name").asString(""), value);
    }
    if (value instanceof ObjectNode struct && depth < MAX_DEPTH) {
      for (JsonNode field : schema.path("fields")) {
        String name = field.path("field").asString("");
        JsonNode before = struct.get(name);
        if (before != null) {
          struct.set(name, typed(field, before, depth + 1));
        }
      }
    }
    return value;
  }

  private static JsonNode typed(String type, JsonNode number) {
    String text;
    try {
      text = ConnectTypes.text(type, number.longValue());
    } catch (DateTimeException | ArithmeticException e) {
      // As text, it is no time, and a fault only of the field that has it.
      text = number.asString();
    }
    return text == null ? number : JsonNodeFactory.instance.stringNode(text);
  }
}
