package io.ordertimeout.it.support;

import static org.awaitility.Awaitility.await;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;

/** Creates, deletes and describes topics and consumer groups, and waits for each result. */
public final class KafkaAdmin implements AutoCloseable {

  private final Admin admin;

  KafkaAdmin(String bootstrapServers) {
    this.admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers));
  }

  /** The client, for requests that only one test makes. */
  public Admin client() {
    return admin;
  }

  /** Creates topics; returns when the brokers know them. */
  public void createTopics(Collection<NewTopic> newTopics) {
    // On an overloaded machine the controller may consider the broker dead for a moment.
    await("an available broker").until(() -> isCreated(newTopics));
    // The broker learns of them a moment after the controller.
    List<String> names = newTopics.stream().map(NewTopic::name).toList();
    await("the topics")
        .ignoreExceptions()
        .until(() -> get(admin.describeTopics(names).allTopicNames()).size() == names.size());
  }

  private boolean isCreated(Collection<NewTopic> newTopics) {
    try {
      get(admin.createTopics(newTopics).all());
      return true;
    } catch (IllegalStateException e) {
      if (e.getCause() instanceof InvalidReplicationFactorException) {
        return false;
      }
      throw e;
    }
  }

  /** Sets a setting of topics; each broker applies it a moment later. */
  public void configure(Collection<String> topics, String setting, String value) {
    AlterConfigOp set =
        new AlterConfigOp(new ConfigEntry(setting, value), AlterConfigOp.OpType.SET);
    get(
        admin
            .incrementalAlterConfigs(
                topics.stream()
                    .collect(
                        Collectors.toMap(
                            topic -> new ConfigResource(ConfigResource.Type.TOPIC, topic),
                            topic -> List.of(set))))
            .all());
  }

  /** Deletes a topic; returns when it is gone. */
  public void deleteTopic(String topic) {
    get(admin.deleteTopics(List.of(topic)).all());
    await(topic + " to be gone").until(() -> !get(admin.listTopics().names()).contains(topic));
  }

  /** Deletes all records of partitions, as Kafka does after their retention. */
  public void deleteRecords(Collection<TopicPartition> partitions) {
    Map<TopicPartition, RecordsToDelete> all =
        ends(partitions).entrySet().stream()
            .collect(
                Collectors.toMap(
                    Map.Entry::getKey, end -> RecordsToDelete.beforeOffset(end.getValue())));
    get(admin.deleteRecords(all).all());
  }

  /** The ids of the consumers in a group; a new consumer gets a new id. */
  Set<String> members(String group) {
    return get(admin.describeConsumerGroups(List.of(group)).all()).values().stream()
        .flatMap(description -> description.members().stream())
        .map(MemberDescription::consumerId)
        .collect(Collectors.toSet());
  }

  /** The numbers of partitions of all topics whose names begin like that. */
  Map<String, Integer> partitionCounts(String prefix) {
    Set<String> existing = get(admin.listTopics().names());
    List<String> own = existing.stream().filter(topic -> topic.startsWith(prefix)).toList();
    return get(admin.describeTopics(own).allTopicNames()).entrySet().stream()
        .collect(
            Collectors.toMap(
                Map.Entry::getKey, description -> description.getValue().partitions().size()));
  }

  /** Whether a group has committed all records below those offsets. */
  boolean committed(String group, Map<TopicPartition, Long> ends) {
    Map<TopicPartition, OffsetAndMetadata> committed =
        get(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata());
    return ends.entrySet().stream()
        .allMatch(
            end -> {
              OffsetAndMetadata offset = committed.get(end.getKey());
              return offset != null && offset.offset() >= end.getValue();
            });
  }

  /** How many records below those offsets a group has not committed. */
  long uncommitted(String group, Map<TopicPartition, Long> ends) {
    Map<TopicPartition, OffsetAndMetadata> committed =
        get(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata());
    return ends.entrySet().stream()
        .mapToLong(
            end -> {
              OffsetAndMetadata offset = committed.get(end.getKey());
              return Math.max(0, end.getValue() - (offset == null ? 0 : offset.offset()));
            })
        .sum();
  }

  /** The end offsets of partitions. */
  public Map<TopicPartition, Long> ends(Collection<TopicPartition> partitions) {
    return get(
            admin
                .listOffsets(
                    partitions.stream()
                        .collect(Collectors.toMap(Function.identity(), p -> OffsetSpec.latest())))
                .all())
        .entrySet()
        .stream()
        .collect(Collectors.toMap(Map.Entry::getKey, end -> offset(end.getValue())));
  }

  private static long offset(ListOffsetsResultInfo info) {
    return info.offset();
  }

  /** Waits for the result of a request to Kafka. */
  public static <T> T get(KafkaFuture<T> answer) {
    try {
      return answer.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("Kafka refused", e.getCause());
    }
  }

  @Override
  public void close() {
    admin.close();
  }
}
