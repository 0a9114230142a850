package io.ordertimeout.it.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** A producer was deployed with another format, so that none of its records can be used. */
class UnusableTopicIT {

  private static final int RECORDS = 300;

  /** Half of the hundred records that are looked at. */
  private static final int DEAD_LETTERS_BEFORE_THE_STOP = 50;

  private static final String STOPPED = "/api/v1/stopped-topics";

  @Test
  void aTopicOfWhichMostRecordsAreUnusableIsNotDrainedIntoTheDeadLettersUnseen() {
    try (Scenario scenario = Scenario.create();
        Service service = scenario.startService()) {
      scenario.createPending("before", 0);
      sendInAnotherFormat(scenario);

      awaitStopped(service, scenario.topics().created());

      JsonNode stop = service.http().viewer().get(STOPPED).json().at("/data/0");
      assertThat(stop.path("topic").asString()).isEqualTo(scenario.topics().created());
      assertThat(stop.path("unusable").asInt()).isPositive();
      assertThat(stop.path("firstPosition").asString()).startsWith(scenario.topics().created());
      assertThat(stop.path("firstFault").asString()).contains("orderId");
      assertThat(scenario.outcomes().deadLetters())
          .hasSizeLessThanOrEqualTo(DEAD_LETTERS_BEFORE_THE_STOP);
      scenario.pay("before", 0);
      scenario.awaitState("before", "PAID");
      service.awaitReady(true);
      assertThat(service.http().viewer().get("/api/v1/overview").json().path("stoppedTopics"))
          .hasSize(1);
    }
  }

  @Test
  void theTopicIsReadOnOnceItsRecordsCanBeUsed() {
    try (Scenario scenario = Scenario.create()) {
      try (Service service = scenario.startService("order-timeout.intake.unusable-limit", "0")) {
        service.awaitReady(true);
        sendInAnotherFormat(scenario);
        awaitStopped(service, scenario.topics().created());
      }

      try (Service mended =
          scenario.startService("order-timeout.intake.formats.created", "cloudevents")) {
        scenario.awaitQuiet();

        assertThat(scenario.database().states()).hasSize(RECORDS);
        assertThat(scenario.outcomes().deadLetters()).isEmpty();
        assertThat(stoppedPartitions(mended, scenario.topics().created())).isZero();
      }
    }
  }

  @Test
  void anOperatorPermitsToTurnTheRecordsIntoDeadLetters() {
    try (Scenario scenario = Scenario.create();
        Service service = scenario.startService()) {
      service.awaitReady(true);
      Http operator = service.http().operator();
      String topic = scenario.topics().created();
      String permit = STOPPED + "/" + topic + "/permit-dead-letters";
      Map<String, ?> reason = Map.of("reason", "the producer was mended, these were tests");
      assertThat(operator.post(permit, reason).status()).isEqualTo(404);
      sendInAnotherFormat(scenario);
      awaitStopped(service, topic);

      assertThat(service.http().viewer().post(permit, reason).status()).isEqualTo(403);
      assertThat(operator.post(permit, reason).status()).isEqualTo(200);

      await("all dead letters").until(() -> scenario.outcomes().deadLetters().size() == RECORDS);
      scenario.createPending("after", 0);
      await("the topic is read on").until(() -> stoppedPartitions(service, topic) == 0);
      assertThat(operator.get(STOPPED).json().path("data")).isEmpty();
      Answer repeated = operator.post(permit, reason);
      assertThat(repeated.status()).isEqualTo(200);
      assertThat(repeated.header("Idempotent-Replayed")).isEqualTo("true");
      JsonNode entry = operator.get("/api/v1/audit", "subject", topic).json().at("/data/0");
      assertThat(entry.path("kind").asString()).isEqualTo("PERMIT_DEAD_LETTERS");
    }
  }

  @Test
  void ordersWithPaymentsInAnotherFormatAreNotCancelled() {
    try (Scenario scenario = Scenario.create();
        Service service = scenario.startService("order-timeout.intake.unusable-limit", "0")) {
      service.awaitReady(true);
      scenario.create("paid", 0, Scenario.in(Duration.ofSeconds(10)));
      scenario.awaitState("paid", "PENDING");
      // Nothing in it tells which order it pays.
      Shop.await(
          scenario
              .shop()
              .send(
                  new ProducerRecord<>(
                      scenario.topics().paid(), 0, null, Shop.utf8("<payment order='paid'/>"))));
      awaitStopped(service, scenario.topics().paid());

      Instant past = Instant.now().plusSeconds(12);
      scenario.awaitPast(past);

      assertThat(scenario.database().states()).containsEntry("paid", "PENDING");
      assertThat(scenario.outcomes().deadLetters()).isEmpty();
    }
  }

  /** Sends created orders as CloudEvents, although plain JSON is configured. */
  private static void sendInAnotherFormat(Scenario scenario) {
    IntStream.range(0, RECORDS)
        .mapToObj(
            i ->
                scenario
                    .shop()
                    .send(
                        new ProducerRecord<>(
                            scenario.topics().created(),
                            Shop.utf8("order-" + i),
                            Shop.json(
                                Map.of(
                                    "specversion",
                                    "1.0",
                                    "id",
                                    "event-" + i,
                                    "source",
                                    "/shop",
                                    "type",
                                    "order-created",
                                    "data",
                                    Map.of("orderId", "order-" + i, "timeout", "PT1H"))))))
        .toList()
        .forEach(Shop::await);
  }

  private static void awaitStopped(Service service, String topic) {
    await("the topic is stopped").until(() -> stoppedPartitions(service, topic) > 0);
  }

  private static double stoppedPartitions(Service service, String topic) {
    return service.gauge("order.timeout.stopped.partitions", "topic", topic, "consumer", "0");
  }
}
