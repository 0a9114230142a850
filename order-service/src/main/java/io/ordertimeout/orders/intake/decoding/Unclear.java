package io.ordertimeout.orders.intake.decoding;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.POJONode;

/**
 * A value in a tree that has no one meaning, such as a field that appears twice. It is a fault only
 * of the field that it belongs to.
 *
 * @param fault what is wrong, as the end of a sentence that begins with the name of the field
 * @param candidates the values that it may have
 */
record Unclear(String fault, List<JsonNode> candidates) {

  /** Bounds what a record with many duplicates costs. */
  private static final int MAX_CANDIDATES = 10;

  static JsonNode tooLong(int length) {
    return node(new Unclear("is a number of " + length + " characters", List.of()));
  }

  static JsonNode unusableNumber() {
    return node(new Unclear("is a number with an unusable exponent", List.of()));
  }

  /** What a field is that has those values. */
  static JsonNode duplicate(JsonNode before, JsonNode value) {
    List<JsonNode> candidates = new ArrayList<>();
    Unclear unclear = of(before);
    if (unclear == null || unclear.candidates.isEmpty()) {
      candidates.add(before);
    } else {
      candidates.addAll(unclear.candidates);
    }
    if (candidates.size() < MAX_CANDIDATES) {
      candidates.add(value);
    }
    return node(new Unclear("appears more than once", List.copyOf(candidates)));
  }

  private static JsonNode node(Unclear unclear) {
    return JsonNodeFactory.instance.pojoNode(unclear);
  }

  /** Returns why a node has no one meaning; null if it has one. */
  static @Nullable Unclear of(JsonNode node) {
    return node instanceof POJONode pojo && pojo.getPojo() instanceof Unclear unclear
        ? unclear
        : null;
  }
}
