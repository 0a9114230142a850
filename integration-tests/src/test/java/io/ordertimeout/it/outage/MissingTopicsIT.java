package io.ordertimeout.it.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.TopicNames;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Output topics that are deleted while the service runs: only what they are for waits. */
@Tag("faults")
class MissingTopicsIT {

  private static final int ROUNDS = 5;
  private static final int BAD_RECORDS = 50;

  /** Less than Kafka's producer waits for the metadata of a single record's topic. */
  private static final Duration PROMPT = Duration.ofSeconds(8);

  @AutoClose private final Scenario scenario = Scenario.create();
  private final TopicNames topics = scenario.topics();

  @Test
  void withoutTheTopicOfConflictsCancellationsArePublishedPromptly() {
    try (Service service =
        scenario.startService("spring.kafka.producer.properties.delivery.timeout.ms", "11000")) {
      for (int i = 0; i < ROUNDS; i++) {
        scenario.passDeadline("cancelled-" + i, 0);
      }
      scenario.kafka().deleteTopic(topics.conflict());

      for (int i = 0; i < ROUNDS; i++) {
        scenario.pay("cancelled-" + i, 0);
        scenario.awaitState("cancelled-" + i, "CANCELLED");
        scenario.create("next-" + i, 1, Scenario.in(Duration.ofMillis(100)));
        PublishedEvent event = scenario.outcomes().awaitCancelled("next-" + i);
        assertThat(Instant.ofEpochMilli(event.record().timestamp()))
            .as(event.key())
            .isBefore(event.instant("cancelledAt").plus(PROMPT));
      }
      awaitFailing(service, "outbox-relay");
      assertThat(service.isReady()).isFalse();

      create(topics.conflict());

      await("conflicts").until(() -> records(topics.conflict()) >= ROUNDS);
      await("outbox").until(() -> scenario.database().unpublished() == 0);
      service.awaitReady(true);
    }
  }

  @Test
  void withoutTheDeadLetterTopicOnlyPartitionsWithUnusableRecordsWait() {
    String deadLetters = TopicNames.deadLetters(topics.created());
    try (Service service = scenario.startService()) {
      scenario.createPending("first", 0);
      scenario.kafka().deleteTopic(deadLetters);

      scenario.create("before", 0, Scenario.in(Duration.ofHours(1)));
      for (int i = 0; i < BAD_RECORDS; i++) {
        Shop.await(
            scenario
                .shop()
                .send(
                    new ProducerRecord<>(
                        topics.created(), 0, Shop.utf8("bad-" + i), Shop.utf8("no JSON"))));
      }
      scenario.create("behind", 0, Scenario.in(Duration.ofHours(1)));
      for (int i = 0; i < ROUNDS; i++) {
        int round = i;
        scenario.create("beside-" + i, 1, Scenario.in(Duration.ofHours(1)));
        await("an order in another partition")
            .atMost(PROMPT)
            .until(() -> "PENDING".equals(scenario.database().state("beside-" + round)));
      }
      scenario.pay("first", 0);
      await("a payment of the same shard")
          .atMost(PROMPT)
          .until(() -> "PAID".equals(scenario.database().state("first")));
      scenario.awaitState("before", "PENDING");
      awaitFailing(service, "dead-letters-0");
      assertThat(service.gauge("order.timeout.failing", "step", "intake-0")).isZero();
      assertThat(service.isReady()).isFalse();

      create(deadLetters);

      await("dead letters").until(() -> records(deadLetters) >= BAD_RECORDS);
      scenario.awaitState("behind", "PENDING");
      service.awaitReady(true);
      assertThat(service.counter("order.timeout.dead.letters")).isEqualTo(BAD_RECORDS);
    }
  }

  private static void awaitFailing(Service service, String step) {
    await(step + " to fail").until(() -> service.gauge("order.timeout.failing", "step", step) > 0);
  }

  private void create(String topic) {
    scenario.kafka().createTopics(List.of(new NewTopic(topic, Scenario.PARTITIONS, (short) 1)));
  }

  private long records(String topic) {
    return scenario.kafka().ends(Scenario.partitions(List.of(topic))).values().stream()
        .mapToLong(Long::longValue)
        .sum();
  }
}
