package io.ordertimeout.orders.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.OrderTimeoutProperties;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import tools.jackson.databind.JsonNode;

/** The AsyncAPI document: its references, its topics, and the examples of the schemas. */
class AsyncApiTest {

  private static final OrderTimeoutProperties.Topics TOPICS =
      new Binder(new MapConfigurationPropertySource(Map.of()))
          .bindOrCreate("order-timeout", OrderTimeoutProperties.class)
          .topics();

  /** Not read by default. */
  private static final String ATTEMPTS = "order-payment-attempt";

  /** Not read by default. */
  private static final String CHANGED = "order-changed";

  /** Not published by default. */
  private static final String EXPIRING = "order-expiring";

  private final JsonNode document = EventSchema.document("asyncapi.json");

  @Test
  void everyTopicIsAChannelThatTheServiceReadsOrPublishes() {
    assertThat(channels("receive"))
        .containsExactlyInAnyOrder(
            TOPICS.created(), TOPICS.paid(), TOPICS.closed(), ATTEMPTS, CHANGED);
    assertThat(channels("send"))
        .containsExactlyInAnyOrder(TOPICS.cancelled(), TOPICS.conflict(), EXPIRING, "{topic}.dlt");
    assertThat(document.at("/channels/deadLetters/parameters/topic/enum").values())
        .extracting(JsonNode::asString)
        .containsExactlyInAnyOrder(
            TOPICS.created(), TOPICS.paid(), TOPICS.closed(), ATTEMPTS, CHANGED);
  }

  private Set<String> channels(String action) {
    return document.path("operations").values().stream()
        .filter(operation -> operation.path("action").asString().equals(action))
        .map(operation -> resolved(operation.at("/channel/$ref").asString()))
        .map(channel -> channel.path("address").asString())
        .collect(Collectors.toSet());
  }

  @Test
  void everyReferenceLeadsSomewhere() {
    List<String> references = new ArrayList<>();
    collect(document, references);
    assertThat(references).hasSizeGreaterThan(10).allSatisfy(this::resolved);
  }

  private static void collect(JsonNode node, List<String> references) {
    if (node.has("$ref")) {
      references.add(node.path("$ref").asString());
    }
    node.values().forEach(child -> collect(child, references));
  }

  /** What a reference leads to: something in the document, or a schema beside it. */
  private JsonNode resolved(String reference) {
    JsonNode target =
        reference.startsWith("#")
            ? document.at(reference.substring(1))
            : EventSchema.document(reference.replaceFirst("^\\./", ""));
    assertThat(target.isObject()).as(reference).isTrue();
    return target;
  }

  @Test
  void everyChannelHasTheSchemaOfItsTopic() {
    for (String name :
        List.of(
            "orderCreated",
            "orderPaid",
            "orderClosed",
            "orderPaymentAttempt",
            "orderChanged",
            "orderExpiring",
            "orderCancelled",
            "orderPaymentConflict")) {
      JsonNode channel = document.at("/channels/" + name);
      String message = channel.at("/messages/" + name + "/$ref").asString();
      assertThat(resolved(message).at("/payload/$ref").asString())
          .isEqualTo("./" + channel.path("address").asString() + ".schema.json");
    }
  }

  @Test
  void theExamplesOfEverySchemaAreValidAndShowEveryField() {
    for (String topic :
        List.of(
            TOPICS.created(),
            TOPICS.paid(),
            TOPICS.closed(),
            ATTEMPTS,
            CHANGED,
            EXPIRING,
            TOPICS.cancelled(),
            TOPICS.conflict())) {
      EventSchema schema = EventSchema.of(topic);
      assertThat(schema.examples()).isNotEmpty().allSatisfy(e -> valid(schema, e));
      assertThat(schema.examples().toString()).contains(schema.fields());
      assertThat(schema.faults("{}")).as(topic).isNotEmpty();
      assertThat(schema.document().path("$id").asString()).isEqualTo("urn:order-timeout:" + topic);
    }
  }

  private static void valid(EventSchema schema, String example) {
    assertThat(schema.faults(example)).isEmpty();
  }
}
