package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.TopicNames;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.Test;

/** Missing topics, and topics with unsuitable numbers of partitions. */
class TopicsIT {

  @Test
  void missingTopicsAreNamedAndPreventTheStart() {
    try (Scenario scenario = Scenario.unprepared()) {
      TopicNames topics = scenario.topics();
      scenario.kafka().createTopics(List.of(new NewTopic(topics.created(), 3, (short) 1)));

      assertThatThrownBy(scenario::startService)
          .rootCause()
          .hasMessageStartingWith("These topics do not exist: ")
          .message()
          .contains(topics.paid(), topics.closed(), topics.cancelled(), topics.conflict())
          .contains(topics.deadLetters())
          .doesNotContain(topics.created() + ",");
      assertThat(scenario.partitionCounts()).containsOnlyKeys(topics.created());
    }
  }

  @Test
  void differentPartitionCountsOfInputTopicsAreReportedAndPreventTheStart() {
    try (Scenario scenario = Scenario.unprepared()) {
      TopicNames topics = scenario.topics();
      scenario
          .kafka()
          .createTopics(
              List.of(
                  new NewTopic(topics.created(), 3, (short) 1),
                  new NewTopic(topics.paid(), 4, (short) 1),
                  new NewTopic(topics.closed(), 3, (short) 1)));

      assertThatThrownBy(() -> scenario.startService("order-timeout.topics.create-missing", "true"))
          .rootCause()
          .hasMessageStartingWith("The input topics have different numbers of partitions: ")
          .message()
          .contains(topics.created() + "=3", topics.paid() + "=4", topics.closed() + "=3");
    }
  }

  @Test
  void missingTopicsAreCreatedIfConfigured() {
    try (Scenario scenario = Scenario.unprepared();
        Service service =
            scenario.startService(
                "order-timeout.topics.create-missing", "true",
                "order-timeout.topics.partitions", "4")) {
      awaitPartitionCounts(scenario, 4);
      scenario.shop().created("first", Map.of());
      scenario.shop().paid("first", "p1");
      scenario.awaitState("first", "PAID");
      // Counted a moment after it was stored.
      await("the count").until(() -> service.counter("order.timeout.events", "event", "paid") == 1);
    }
  }

  @Test
  void missingTopicsGetThePartitionCountOfExistingInputs() {
    try (Scenario scenario = Scenario.unprepared()) {
      TopicNames topics = scenario.topics();
      scenario.kafka().createTopics(List.of(new NewTopic(topics.paid(), 2, (short) 1)));
      try (Service service = scenario.startService("order-timeout.topics.create-missing", "true")) {
        awaitPartitionCounts(scenario, 2);
        assertThat(service.counter("order.timeout.events")).isZero();
      }
    }
  }

  // The service waits for the controller; the broker learns of new topics a moment later.
  private static void awaitPartitionCounts(Scenario scenario, int partitions) {
    await("the topics")
        .untilAsserted(
            () ->
                assertThat(scenario.partitionCounts())
                    .isEqualTo(all(scenario.topics(), partitions)));
  }

  private static Map<String, Integer> all(TopicNames topics, int partitions) {
    return Stream.of(
            topics.inputs(), topics.deadLetters(), List.of(topics.cancelled(), topics.conflict()))
        .flatMap(List::stream)
        .collect(Collectors.toMap(topic -> topic, topic -> partitions));
  }
}
