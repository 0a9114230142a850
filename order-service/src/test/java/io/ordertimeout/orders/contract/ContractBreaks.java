package io.ordertimeout.orders.contract;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a newer version of a document breaks for those who rely on the older one. What the service
 * receives may only become wider, what it sends only narrower, except that fields may be added, and
 * values that are sent only once a feature is switched on that is off by default.
 */
final class ContractBreaks {

  /** Who writes what a schema describes. */
  enum Direction {
    RECEIVED,
    SENT
  }

  /** Limits of values, of which a greater one is narrower. */
  private static final Set<String> LOWER_LIMITS =
      Set.of("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties");

  /** Limits of values, of which a smaller one is narrower. */
  private static final Set<String> UPPER_LIMITS =
      Set.of("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties");

  /** Values of which nobody gets one who does not use the feature that it belongs to. */
  private static final Set<String> OF_SWITCHED_ON_FEATURES =
      Set.of(
          "ATTEMPT",
          "ATTEMPT_STARTED",
          "ATTEMPT_ENDED",
          "WARNED",
          "RESOLVE_CONFLICT",
          "CONFLICT_RESOLVED",
          "CHANGED",
          "payment-under-way",
          "confirmation");

  private static final Pattern PART = Pattern.compile("([A-Za-z-])([?])?|[(]([A-Za-z|]+)[)]");

  private final JsonNode oldDocument;
  private final JsonNode newDocument;
  private final List<String> breaks = new ArrayList<>();
  private final Set<List<Object>> compared = new LinkedHashSet<>();

  private ContractBreaks(JsonNode oldDocument, JsonNode newDocument) {
    this.oldDocument = oldDocument;
    this.newDocument = newDocument;
  }

  /** Compares two JSON Schemas of the same events. */
  static List<String> ofSchema(JsonNode older, JsonNode newer, Direction direction) {
    ContractBreaks comparison = new ContractBreaks(older, newer);
    comparison.compare("", older, newer, direction);
    return comparison.breaks;
  }

  /** Compares two AsyncAPI documents, but for the schemas that they refer to. */
  static List<String> ofAsyncApi(JsonNode older, JsonNode newer) {
    Map<String, String> before = topics(older);
    Map<String, String> after = topics(newer);
    return before.entrySet().stream()
        .filter(topic -> !topic.getValue().equals(after.get(topic.getKey())))
        .map(
            topic ->
                "topic " + topic.getKey() + " was removed, or " + topic.getValue() + " no more")
        .toList();
  }

  /** The addresses of all operations' channels, and whether the service sends or receives. */
  private static Map<String, String> topics(JsonNode document) {
    Map<String, String> topics = new TreeMap<>();
    for (JsonNode operation : document.path("operations").values()) {
      JsonNode channel = document.at(operation.at("/channel/$ref").asString("").replace("#", ""));
      topics.put(channel.path("address").asString(""), operation.path("action").asString(""));
    }
    return topics;
  }

  /** Compares two OpenAPI documents. */
  static List<String> ofOpenApi(JsonNode older, JsonNode newer) {
    ContractBreaks comparison = new ContractBreaks(older, newer);
    older
        .path("paths")
        .properties()
        .forEach(
            path ->
                path.getValue()
                    .properties()
                    .forEach(
                        method ->
                            comparison.compareOperation(
                                method.getKey() + " " + path.getKey(),
                                method.getValue(),
                                newer.path("paths").path(path.getKey()).path(method.getKey()))));
    older
        .at("/components/securitySchemes")
        .properties()
        .forEach(
            scheme -> {
              JsonNode after = newer.at("/components/securitySchemes").path(scheme.getKey());
              for (String property : List.of("type", "scheme", "in", "name")) {
                if (!scheme.getValue().path(property).equals(after.path(property))) {
                  comparison.breaks.add(
                      "security scheme " + scheme.getKey() + " has another " + property);
                }
              }
            });
    return comparison.breaks;
  }

  private void compareOperation(String name, JsonNode before, JsonNode after) {
    if (after.isMissingNode()) {
      breaks.add(name + " was removed");
      return;
    }
    if (!before.path("operationId").equals(after.path("operationId"))) {
      breaks.add(name + " has another operationId");
    }
    Map<String, JsonNode> parametersBefore = parameters(before);
    Map<String, JsonNode> parametersAfter = parameters(after);
    parametersBefore.forEach(
        (parameter, node) -> {
          JsonNode now = parametersAfter.get(parameter);
          if (now == null) {
            breaks.add(name + " has no parameter " + parameter + " any more");
          } else {
            compare(
                name + " " + parameter,
                node.path("schema"),
                now.path("schema"),
                Direction.RECEIVED);
          }
        });
    parametersAfter.forEach(
        (parameter, node) -> {
          JsonNode earlier = parametersBefore.get(parameter);
          if (isRequired(node) && (earlier == null || !isRequired(earlier))) {
            breaks.add(name + " requires the parameter " + parameter);
          }
        });
    if (isRequired(after.path("requestBody")) && !isRequired(before.path("requestBody"))) {
      breaks.add(name + " requires a body");
    }
    compareContent(
        name + " body", before.path("requestBody"), after.path("requestBody"), Direction.RECEIVED);
    before
        .path("responses")
        .properties()
        .forEach(
            response -> {
              JsonNode now = after.path("responses").path(response.getKey());
              if (now.isMissingNode()) {
                breaks.add(name + " has no response " + response.getKey() + " any more");
              } else {
                compareContent(
                    name + " " + response.getKey(), response.getValue(), now, Direction.SENT);
              }
            });
  }

  private static boolean isRequired(JsonNode node) {
    return node.path("required").asBoolean(false);
  }

  private static Map<String, JsonNode> parameters(JsonNode operation) {
    Map<String, JsonNode> parameters = new TreeMap<>();
    for (JsonNode parameter : operation.path("parameters").values()) {
      parameters.put(
          parameter.path("in").asString("") + " " + parameter.path("name").asString(""), parameter);
    }
    return parameters;
  }

  private void compareContent(String name, JsonNode before, JsonNode after, Direction direction) {
    before
        .path("content")
        .properties()
        .forEach(
            content -> {
              JsonNode now = after.path("content").path(content.getKey());
              if (now.isMissingNode()) {
                breaks.add(name + " has no " + content.getKey() + " any more");
              } else {
                compare(name, content.getValue().path("schema"), now.path("schema"), direction);
              }
            });
  }

  private void compare(String where, JsonNode older, JsonNode newer, Direction direction) {
    JsonNode before = resolved(older, oldDocument);
    JsonNode after = resolved(newer, newDocument);
    if (!compared.add(List.of(before, after, direction))) {
      return; // reported already, or a schema that contains itself
    }
    compareValues(where + ": type", types(before), types(after), direction);
    compareValues(where + ": enum", constants(before), constants(after), direction);
    compareValues(
        where + ": format", texts(before.path("format")), texts(after.path("format")), direction);
    compareValues(
        where + ": pattern",
        words(before.path("pattern")),
        words(after.path("pattern")),
        direction);
    for (String limit : LOWER_LIMITS) {
      compareLimit(where + ": " + limit, before.path(limit), after.path(limit), 1, direction);
    }
    for (String limit : UPPER_LIMITS) {
      compareLimit(where + ": " + limit, before.path(limit), after.path(limit), -1, direction);
    }
    Set<String> requiredBefore = texts(before.path("required"));
    Set<String> requiredAfter = texts(after.path("required"));
    if (direction == Direction.RECEIVED) {
      without(requiredAfter, requiredBefore)
          .forEach(field -> breaks.add(where + "/" + field + " is required now"));
    } else {
      without(requiredBefore, requiredAfter)
          .forEach(field -> breaks.add(where + "/" + field + " is not always there any more"));
    }
    before
        .path("properties")
        .properties()
        .forEach(
            property -> {
              JsonNode now = after.path("properties").path(property.getKey());
              if (now.isMissingNode()) {
                breaks.add(where + "/" + property.getKey() + " was removed");
              } else {
                compare(where + "/" + property.getKey(), property.getValue(), now, direction);
              }
            });
    for (String part : List.of("items", "additionalProperties")) {
      if (before.path(part).isObject() && after.path(part).isObject()) {
        compare(where + "/" + part, before.path(part), after.path(part), direction);
      }
    }
    for (String part : List.of("oneOf", "anyOf")) {
      compareAlternatives(where, before.path(part), after.path(part), direction);
    }
  }

  private void compareAlternatives(
      String where, JsonNode before, JsonNode after, Direction direction) {
    Map<String, JsonNode> earlier = alternatives(before);
    Map<String, JsonNode> now = alternatives(after);
    compareValues(where + ": alternatives", earlier.keySet(), now.keySet(), direction);
    earlier.forEach(
        (name, alternative) -> {
          JsonNode same = now.get(name);
          if (same != null) {
            compare(where + "/" + name, alternative, same, direction);
          }
        });
  }

  private static Map<String, JsonNode> alternatives(JsonNode node) {
    Map<String, JsonNode> alternatives = new TreeMap<>();
    int number = 0;
    for (JsonNode alternative : node.values()) {
      alternatives.put(alternative.path("$ref").asString(String.valueOf(number++)), alternative);
    }
    return alternatives;
  }

  /** An absent restriction permits every value. */
  private void compareValues(
      String where, Set<String> before, Set<String> after, Direction direction) {
    Set<String> sent = without(after, OF_SWITCHED_ON_FEATURES);
    Set<String> narrow = direction == Direction.RECEIVED ? before : sent;
    Set<String> wide = direction == Direction.RECEIVED ? after : before;
    if (!wide.isEmpty() && (narrow.isEmpty() || !wide.containsAll(narrow))) {
      breaks.add(where + " was " + before + " and is " + after);
    }
  }

  private void compareLimit(
      String where, JsonNode before, JsonNode after, int sign, Direction direction) {
    JsonNode narrow = direction == Direction.RECEIVED ? before : after;
    JsonNode wide = direction == Direction.RECEIVED ? after : before;
    if (wide.isNumber()
        && (!narrow.isNumber()
            || sign * wide.decimalValue().compareTo(narrow.decimalValue()) > 0)) {
      breaks.add(where + " was " + before + " and is " + after);
    }
  }

  private static JsonNode resolved(JsonNode schema, JsonNode document) {
    JsonNode node = schema;
    boolean isNullable = false;
    while (true) {
      isNullable |= node.path("nullable").asBoolean(false);
      if (node.path("allOf").size() == 1) {
        node = node.at("/allOf/0");
      } else if (node.path("$ref").asString("").startsWith("#")) {
        node = document.at(node.path("$ref").asString("").substring(1));
      } else {
        break;
      }
    }
    return isNullable && node.isObject()
        ? ((ObjectNode) node.deepCopy()).put("nullable", true)
        : node;
  }

  private static Set<String> types(JsonNode schema) {
    Set<String> types = new LinkedHashSet<>(texts(schema.path("type")));
    if (schema.path("nullable").asBoolean(false) && !types.isEmpty()) {
      types.add("null");
    }
    // Every whole number is a number.
    if (types.contains("number")) {
      types.add("integer");
    }
    return types;
  }

  private static Set<String> constants(JsonNode schema) {
    return schema.has("const") ? texts(schema.path("const")) : texts(schema.path("enum"));
  }

  private static Set<String> texts(JsonNode node) {
    Stream<JsonNode> values =
        node instanceof MissingNode
            ? Stream.of()
            : node.isArray() ? node.valueStream() : Stream.of(node);
    return values
        .map(value -> value.asString("null"))
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /**
   * The words that a pattern of letters, optional letters and alternatives matches; of any other
   * pattern, itself.
   */
  private static Set<String> words(JsonNode pattern) {
    Set<String> words = Set.of("");
    int end = 0;
    for (MatchResult part : PART.matcher(pattern.asString("")).results().toList()) {
      if (part.start() != end) {
        return texts(pattern);
      }
      end = part.end();
      List<String> choices = new ArrayList<>();
      if (part.group(1) == null) {
        choices.addAll(List.of(part.group(3).split("[|]")));
      } else {
        choices.add(part.group(1));
        if (part.group(2) != null) {
          choices.add("");
        }
      }
      words =
          words.stream()
              .flatMap(word -> choices.stream().map(choice -> word + choice))
              .collect(Collectors.toCollection(LinkedHashSet::new));
    }
    return end > 0 && end == pattern.asString().length() ? words : texts(pattern);
  }

  private static Set<String> without(Set<String> all, Set<String> some) {
    Set<String> rest = new LinkedHashSet<>(all);
    rest.removeAll(some);
    return rest;
  }
}
