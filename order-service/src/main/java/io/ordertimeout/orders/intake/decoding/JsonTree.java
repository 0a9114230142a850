package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.platform.values.InvalidJson;
import io.ordertimeout.orders.platform.values.StatedDecimal;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonPointer;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Trees of the JSON that producers write. Whatever is in the fields that nobody asks for, a tree is
 * read: to any depth, with names of any length, and without computing numbers that are too long for
 * an amount. A field that appears twice, or has such a number, is {@link Unclear}. Every other
 * number keeps all its digits. Thread-safe; O(size of the JSON), without recursion.
 */
final class JsonTree {

  /** Converting a number takes time quadratic in the length of its text. */
  static final int MAX_NUMBER_LENGTH = StatedDecimal.MAX_LENGTH;

  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  // The size of a record is the bound: Kafka has one for it.
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(Integer.MAX_VALUE)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .maxStringLength(Integer.MAX_VALUE)
                  .build())
          .build();

  private JsonTree() {}

  /** Parses JSON. */
  static JsonNode parse(byte[] json) throws UnusableRecordException {
    try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), json)) {
      if (parser.nextToken() == null) {
        throw new UnusableRecordException("the value is not JSON: it is empty");
      }
      JsonNode tree = tree(parser);
      if (parser.nextToken() != null) {
        throw new UnusableRecordException("the value is not JSON: something follows its end");
      }
      return tree;
    } catch (JacksonException e) {
      throw new UnusableRecordException("the value is not JSON: " + InvalidJson.problem(e));
    }
  }

  /**
   * Returns what is at a place of a tree: a name, or a JSON Pointer. A value on the way that has no
   * one meaning is the answer, because what is below it is not known.
   */
  static JsonNode at(JsonNode tree, String place) {
    if (!place.startsWith("/")) {
      return tree.path(place);
    }
    JsonNode node = tree;
    for (JsonPointer rest = JsonPointer.compile(place);
        !rest.matches() && Unclear.of(node) == null;
        rest = rest.tail()) {
      node =
          node.isArray()
              ? node.path(rest.getMatchingIndex())
              : node.path(rest.getMatchingProperty());
    }
    return node;
  }

  private static JsonNode tree(JsonParser parser) {
    Deque<JsonNode> open = new ArrayDeque<>();
    Deque<String> names = new ArrayDeque<>();
    while (true) {
      JsonToken token = parser.currentToken();
      JsonNode complete = null;
      if (token == JsonToken.PROPERTY_NAME) {
        names.push(parser.currentName());
      } else if (token == JsonToken.START_OBJECT) {
        open.push(NODES.objectNode());
      } else if (token == JsonToken.START_ARRAY) {
        open.push(NODES.arrayNode());
      } else if (token == JsonToken.END_OBJECT || token == JsonToken.END_ARRAY) {
        complete = open.pop();
      } else {
        complete = scalar(parser, token);
      }
      if (complete != null) {
        JsonNode parent = open.peek();
        if (parent == null) {
          return complete;
        }
        add(parent, parent.isObject() ? names.pop() : null, complete);
      }
      parser.nextToken();
    }
  }

  private static void add(JsonNode parent, @Nullable String name, JsonNode value) {
    if (name == null) {
      ((ArrayNode) parent).add(value);
      return;
    }
    ObjectNode object = (ObjectNode) parent;
    JsonNode before = object.get(name);
    object.set(name, before == null ? value : Unclear.duplicate(before, value));
  }

  private static JsonNode scalar(JsonParser parser, JsonToken token) {
    return switch (token) {
      case VALUE_STRING -> NODES.stringNode(parser.getString());
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> number(parser, token);
      case VALUE_TRUE -> NODES.booleanNode(true);
      case VALUE_FALSE -> NODES.booleanNode(false);
      case VALUE_NULL -> NODES.nullNode();
      default -> throw new IllegalStateException("JSON has no " + token);
    };
  }

  private static JsonNode number(JsonParser parser, JsonToken token) {
    int length = parser.getStringLength();
    if (length > MAX_NUMBER_LENGTH) {
      return Unclear.tooLong(length);
    }
    String text = parser.getString();
    try {
      if (token == JsonToken.VALUE_NUMBER_FLOAT) {
        return NODES.numberNode(new BigDecimal(text));
      }
      BigInteger number = new BigInteger(text);
      return number.bitLength() < Long.SIZE
          ? NODES.numberNode(number.longValue())
          : NODES.numberNode(number);
    } catch (NumberFormatException e) {
      return Unclear.unusableNumber();
    }
  }
}
