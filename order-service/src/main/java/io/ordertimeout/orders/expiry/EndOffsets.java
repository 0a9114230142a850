package io.ordertimeout.orders.expiry;

import io.ordertimeout.orders.OrderTimeoutProperties;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** Asks Kafka where the payments and closings of shards end. Thread-safe. */
@Component
class EndOffsets {

  private static final Logger log = LoggerFactory.getLogger(EndOffsets.class);

  // Not the end of the committed: a payment in an open transaction was appended too, and its order
  // waits until the transaction has ended, one way or the other.
  private static final ListOffsetsOptions APPENDED =
      new ListOffsetsOptions(IsolationLevel.READ_UNCOMMITTED).timeoutMs(10_000);

  private final Admin admin;
  private final List<String> topics;

  EndOffsets(Admin admin, OrderTimeoutProperties properties) {
    this.admin = admin;
    this.topics = List.of(properties.topics().paid(), properties.topics().closed());
  }

  /** The end offsets by shard and partition; a shard is absent if Kafka did not tell all of its. */
  Map<Integer, Map<TopicPartition, Long>> of(Collection<Integer> shards)
      throws InterruptedException {
    Map<TopicPartition, OffsetSpec> question =
        shards.stream()
            .flatMap(shard -> topics.stream().map(topic -> new TopicPartition(topic, shard)))
            .collect(Collectors.toMap(Function.identity(), partition -> OffsetSpec.latest()));
    ListOffsetsResult answer = admin.listOffsets(question, APPENDED);
    Map<Integer, Map<TopicPartition, Long>> ends = new HashMap<>();
    for (Integer shard : shards) {
      Map<TopicPartition, Long> shardEnds = new HashMap<>();
      try {
        for (String topic : topics) {
          TopicPartition partition = new TopicPartition(topic, shard);
          shardEnds.put(partition, answer.partitionResult(partition).get().offset());
        }
        ends.put(shard, shardEnds);
      } catch (ExecutionException e) {
        log.warn("End offsets of shard {} are unknown: {}", shard, String.valueOf(e.getCause()));
      }
    }
    return ends;
  }
}
