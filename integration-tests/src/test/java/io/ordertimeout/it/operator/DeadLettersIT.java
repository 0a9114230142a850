package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.TopicNames;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.JsonNode;

/** Dead letters listed, read, repaired and published again. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DeadLettersIT {

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Service service = scenario.startService();
  private final Http operator = service.http().operator();
  private final TopicNames topics = scenario.topics();

  @Test
  void aRepairedPaymentIsPublishedAgainAndReleasesItsParkedOrder() {
    scenario.shop().created("paid-in-doubt", Map.of("timeout", "PT1H"));
    scenario.awaitState("paid-in-doubt", "PENDING");
    long paymentsBefore = payments();
    send(topics.paid(), "paid-in-doubt", "{\"order\":\"paid-in-doubt\"}");

    JsonNode letter = awaitLetterOfPayment("paid-in-doubt");
    assertThat(letter.path("error").asString()).contains("orderId is missing");
    assertThat(
            service.http().viewer().get("/api/v1/parked").json().at("/data/0/orderId").asString())
        .isEqualTo("paid-in-doubt");
    String path = path(letter);
    assertThat(service.http().viewer().get(path).json().path("value").asString())
        .isEqualTo("{\"order\":\"paid-in-doubt\"}");

    Map<String, String> repaired =
        Map.of(
            "value",
            "{\"orderId\":\"paid-in-doubt\",\"paymentId\":\"p\"}",
            "reason",
            "the producer was wrong");
    operator.post(path + "/replay", repaired).assertOk();
    scenario.awaitState("paid-in-doubt", "PAID");
    Answer second = operator.post(path + "/replay", repaired);
    assertThat(second.header("Idempotent-Replayed")).isEqualTo("true");
    assertThat(payments()).isEqualTo(paymentsBefore + 2);
  }

  private long payments() {
    return scenario.kafka().ends(scenario.allPartitions()).entrySet().stream()
        .filter(end -> end.getKey().topic().equals(topics.paid()))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  @Test
  void aDeadLetterIsPublishedAgainToThePartitionThatItCameFrom() {
    String letters = TopicNames.deadLetters(topics.paid());
    int all = list(letters).size() + 2 * Scenario.PARTITIONS;
    // Producers of other languages choose other partitions for a key; without one, any is possible.
    for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
      sendTo(partition, Shop.utf8("of a producer of its own"));
      sendTo(partition, null);
    }
    await("the dead letters").until(() -> list(letters).size() >= all);

    for (JsonNode letter : list(letters)) {
      if (letter.path("error").asString().contains("orderId is missing")) {
        continue;
      }
      Answer answer = operator.post(path(letter) + "/replay", Map.of("reason", "again")).assertOk();
      assertThat(answer.json().at("/to").asString())
          .startsWith(topics.paid() + "-" + letter.path("originPartition").asString() + "@");
    }
  }

  @Test
  void afterPartitionsWereAddedTheKeyDeterminesThePartition() {
    byte[] key = Shop.utf8("of a topic that has grown");
    int ofKey = Utils.toPositive(Utils.murmur2(key)) % Scenario.PARTITIONS;
    sendTo((ofKey + 1) % Scenario.PARTITIONS, key);
    JsonNode letter = awaitLetterOfPayment("of a topic that has grown");
    scenario
        .database()
        .execute("update partition_count set noticed_at = clock_timestamp() + '1 h'::interval");
    scenario
        .database()
        .execute("insert into partition_count (partitions, noticed_at) values (2, '2000-01-01')");

    Answer answer = operator.post(path(letter) + "/replay", Map.of("reason", "again"));

    assertThat(answer.json().at("/to").asString()).startsWith(topics.paid() + "-" + ofKey);
    scenario.database().execute("delete from partition_count where partitions = 2");
    scenario.database().execute("update partition_count set noticed_at = '2000-01-01'");
  }

  private static String path(JsonNode letter) {
    return "/api/v1/dead-letters/%s/%d/%d"
        .formatted(
            letter.path("topic").asString(),
            letter.path("partition").asInt(),
            letter.path("offset").asInt());
  }

  private void sendTo(int partition, byte @Nullable [] key) {
    Shop.await(
        scenario
            .shop()
            .send(new ProducerRecord<>(topics.paid(), partition, key, Shop.utf8("nonsense"))));
  }

  @Test
  void theListPagesBackwards() {
    for (int i = 0; i < 25; i++) {
      send(topics.created(), "key-" + i, "nonsense " + i);
    }
    String letters = TopicNames.deadLetters(topics.created());
    await("the dead letters").until(() -> list(letters).size() == 25);

    Set<String> seen = new HashSet<>();
    @Nullable String after = null;
    do {
      String[] query =
          after == null
              ? new String[] {"limit", "10"}
              : new String[] {"limit", "10", "after", after};
      JsonNode page =
          service.http().viewer().get("/api/v1/dead-letters/" + letters, query).assertOk().json();
      for (JsonNode letter : page.path("data")) {
        assertThat(seen.add(letter.path("key").asString())).isTrue();
      }
      after = page.path("next").asStringOpt().orElse(null);
    } while (after != null);
    assertThat(seen).hasSize(25);

    manyAreReplayedAtOnceAndMarkedAsReplayed(letters);
  }

  private void manyAreReplayedAtOnceAndMarkedAsReplayed(String letters) {
    JsonNode group = groups(letters).at("/data/0");
    assertThat(group.path("letters").asInt()).isEqualTo(25);
    assertThat(group.path("replayed").asInt()).isZero();
    String fault = group.path("fault").asString();
    assertThat(fault).doesNotContain("nonsense");
    List<Map<String, Object>> positions = new ArrayList<>();
    for (JsonNode letter : list(letters).valueStream().limit(2).toList()) {
      assertThat(letter.path("fault").asString()).isEqualTo(fault);
      assertThat(letter.path("replay").isNull()).isTrue();
      positions.add(position(letters, letter.path("partition"), letter.path("offset")));
    }
    positions.add(Map.of("topic", letters, "partition", 0, "offset", 1_000_000));
    Map<String, Object> request = Map.of("positions", positions, "reason", "all at once");

    Http repeating = operator.with("Idempotency-Key", "replays");
    JsonNode results =
        repeating.post("/api/v1/dead-letters/replay", request).assertOk().json().path("data");
    assertThat(results.valueStream().map(r -> r.path("outcome").asString()))
        .containsExactly("CHANGED", "CHANGED", "UNKNOWN");
    String to = results.at("/0/to").asString();
    assertThat(to).startsWith(topics.created() + "-");
    Answer again = repeating.post("/api/v1/dead-letters/replay", request).assertOk();
    assertThat(again.header("Idempotent-Replayed")).isEqualTo("true");
    assertThat(again.json().at("/data/0/to").asString()).isEqualTo(to);

    // What was published again becomes a dead letter again, which was not replayed yet.
    await("the new dead letters").until(() -> list(letters).size() == 27);
    List<JsonNode> replayed =
        list(letters).valueStream().filter(letter -> !letter.path("replay").isNull()).toList();
    assertThat(replayed).hasSize(2);
    assertThat(replayed.get(0).at("/replay/by").asString()).isEqualTo("operator");
    assertThat(replayed).extracting(letter -> letter.at("/replay/to").asString()).contains(to);
    assertThat(groups(letters).at("/data/0/replayed").asInt()).isEqualTo(2);
    assertThat(
            service
                .http()
                .viewer()
                .get("/api/v1/dead-letters/" + letters, "fault", "another")
                .assertOk()
                .json()
                .path("data"))
        .isEmpty();
  }

  private JsonNode groups(String letters) {
    return service
        .http()
        .viewer()
        .get("/api/v1/dead-letters/" + letters + "/groups")
        .assertOk()
        .json();
  }

  private static Map<String, Object> position(String topic, JsonNode partition, JsonNode offset) {
    return Map.of("topic", topic, "partition", partition.asInt(), "offset", offset.asLong());
  }

  @Test
  void otherTopicsAndMissingOffsetsAreNotFoundAndNotPublished() {
    Http viewer = service.http().viewer();
    String letters = TopicNames.deadLetters(topics.closed());

    assertThat(viewer.get("/api/v1/dead-letters").json().path("data")).hasSize(3);
    assertThat(viewer.get("/api/v1/dead-letters/" + topics.paid()).status()).isEqualTo(404);
    assertThat(viewer.get("/api/v1/dead-letters/" + letters + "/0/0").status()).isEqualTo(404);
    assertThat(viewer.get("/api/v1/dead-letters/" + letters + "/99/0").status()).isEqualTo(404);
    assertThat(
            operator
                .post(
                    "/api/v1/dead-letters/" + topics.paid() + "/0/0/replay", Map.of("reason", "x"))
                .status())
        .isEqualTo(404);
    assertThat(
            operator
                .post("/api/v1/dead-letters/" + letters + "/0/0/replay", Map.of("reason", "x"))
                .status())
        .isEqualTo(404);
  }

  /** Other letters may arrive as well: what other tests publish again becomes one again. */
  private JsonNode awaitLetterOfPayment(String key) {
    return await("the dead letter")
        .until(() -> letterOfPayment(key), Optional::isPresent)
        .orElseThrow();
  }

  private Optional<JsonNode> letterOfPayment(String key) {
    return list(TopicNames.deadLetters(topics.paid()))
        .valueStream()
        .filter(letter -> letter.path("key").asString().equals(key))
        .findFirst();
  }

  private JsonNode list(String letters) {
    return service.http().viewer().get("/api/v1/dead-letters/" + letters).json().path("data");
  }

  private void send(String topic, String key, String value) {
    Shop.await(scenario.shop().send(new ProducerRecord<>(topic, Shop.utf8(key), Shop.utf8(value))));
  }
}
