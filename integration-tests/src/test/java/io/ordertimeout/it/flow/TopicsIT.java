package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ordertimeout.it.rig.Service;
import io.ordertimeout.it.rig.Stage;
import io.ordertimeout.it.rig.TopicNames;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.Test;

/** Topics that are not there, or not as they have to be. */
class TopicsIT {

  @Test
  void missingTopicsEndTheStartAndAreNamed() {
    try (Stage stage = Stage.withoutTopics()) {
      TopicNames topics = stage.topics();
      stage.createTopics(List.of(new NewTopic(topics.created(), 3, (short) 1)));

      assertThatThrownBy(stage::startService)
          .rootCause()
          .hasMessageStartingWith("These topics do not exist: ")
          .message()
          .contains(topics.paid(), topics.closed(), topics.cancelled(), topics.conflict())
          .contains(topics.deadLetters())
          .doesNotContain(topics.created() + ",");
      assertThat(stage.partitionCounts()).containsOnlyKeys(topics.created());
    }
  }

  @Test
  void inputTopicsOfDifferentPartitionCountsEndTheStartAndTheNumbersAreTold() {
    try (Stage stage = Stage.withoutTopics()) {
      TopicNames topics = stage.topics();
      stage.createTopics(
          List.of(
              new NewTopic(topics.created(), 3, (short) 1),
              new NewTopic(topics.paid(), 4, (short) 1),
              new NewTopic(topics.closed(), 3, (short) 1)));

      assertThatThrownBy(() -> stage.startService("order-timeout.topics.create-missing", "true"))
          .rootCause()
          .hasMessageStartingWith("The input topics have different numbers of partitions: ")
          .message()
          .contains(topics.created() + "=3", topics.paid() + "=4", topics.closed() + "=3");
    }
  }

  @Test
  void allThatIsMissingIsCreatedWhereThatIsConfigured() {
    try (Stage stage = Stage.withoutTopics();
        Service service =
            stage.startService(
                "order-timeout.topics.create-missing", "true",
                "order-timeout.topics.partitions", "4")) {
      assertThat(stage.partitionCounts()).isEqualTo(all(stage.topics(), 4));
      stage.shop().created("first", Map.of());
      stage.shop().paid("first", "p1");
      stage.awaitState("first", "PAID");
      assertThat(service.counter("order.timeout.events", "event", "paid")).isEqualTo(1);
    }
  }

  @Test
  void whatIsMissingIsCreatedAsWideAsTheInputsThatAreThere() {
    try (Stage stage = Stage.withoutTopics()) {
      TopicNames topics = stage.topics();
      stage.createTopics(List.of(new NewTopic(topics.paid(), 2, (short) 1)));
      try (Service service = stage.startService("order-timeout.topics.create-missing", "true")) {
        assertThat(stage.partitionCounts()).isEqualTo(all(topics, 2));
        assertThat(service.counter("order.timeout.events")).isZero();
      }
    }
  }

  private static Map<String, Integer> all(TopicNames topics, int partitions) {
    return Stream.of(
            topics.inputs(), topics.deadLetters(), List.of(topics.cancelled(), topics.conflict()))
        .flatMap(List::stream)
        .collect(Collectors.toMap(topic -> topic, topic -> partitions));
  }
}
