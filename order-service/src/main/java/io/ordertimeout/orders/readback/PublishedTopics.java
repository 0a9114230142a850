package io.ordertimeout.orders.readback;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.platform.kafka.KafkaConsumers;
import io.ordertimeout.orders.platform.kafka.TopicLayoutChangedException;
import io.ordertimeout.orders.position.LogRange;
import io.ordertimeout.orders.position.Position;
import io.ordertimeout.orders.position.ReadBackState;
import io.ordertimeout.orders.position.ReadBackState.State;
import io.ordertimeout.orders.suspension.Suspensions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.Uuid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Opens readers of the service's own output topics, which start where Postgres stops reflecting
 * them. Thread-safe.
 */
@Component
class PublishedTopics {

  private static final Logger log = LoggerFactory.getLogger(PublishedTopics.class);
  private static final int TIMEOUT_MILLIS = 10_000;

  private final Admin admin;
  private final KafkaConsumers consumers;
  private final ReadBackState state;
  private final Suspensions suspensions;
  private final InputTopics inputTopics;
  private final TransactionTemplate transactions;
  private final List<String> names;

  PublishedTopics(
      Admin admin,
      KafkaConsumers consumers,
      ReadBackState state,
      Suspensions suspensions,
      InputTopics inputTopics,
      TransactionTemplate transactions,
      OrderTimeoutProperties properties) {
    this.admin = admin;
    this.consumers = consumers;
    this.state = state;
    this.suspensions = suspensions;
    this.inputTopics = inputTopics;
    this.transactions = transactions;
    this.names = List.of(properties.topics().cancelled(), properties.topics().conflict());
  }

  /**
   * Opens a reader at the stored positions. Places holds on all shards if records between them and
   * the present ends are gone that a new server of Postgres may not reflect. Partitions whose ends
   * Kafka does not tell, for want of a leader, are left out.
   *
   * @throws TopicLayoutChangedException if the input topics have not been checked
   */
  PublishedTopicReader open() throws InterruptedException {
    InputTopics.Layout layout = inputTopics.layout();
    if (layout == null) {
      throw new TopicLayoutChangedException();
    }
    State found = Objects.requireNonNull(transactions.execute(status -> state.read(names)));
    // Only now, so that the ends contain all that was published before the server answered.
    Map<String, TopicDescription> topics = describe();
    List<TopicPartition> partitions =
        topics.values().stream().flatMap(topic -> partitions(topic, any -> true)).toList();
    Map<String, Uuid> topicIds =
        topics.values().stream()
            .collect(Collectors.toMap(TopicDescription::name, TopicDescription::topicId));
    Map<TopicPartition, LogRange> ranges =
        ranges(
            topics.values().stream()
                .flatMap(topic -> partitions(topic, p -> p.leader() != null))
                .toList(),
            topicIds);
    Map<TopicPartition, Position> positions = new HashMap<>();
    Map<TopicPartition, Long> ends = new HashMap<>();
    ranges.forEach(
        (partition, range) -> {
          positions.put(partition, start(partition, found, range, layout));
          ends.put(partition, range.end());
        });
    return new PublishedTopicReader(
        consumers.createStandalone(), layout, found, partitions, positions, ends, topicIds);
  }

  private static Stream<TopicPartition> partitions(
      TopicDescription topic, Predicate<TopicPartitionInfo> those) {
    return topic.partitions().stream()
        .filter(those)
        .map(partition -> new TopicPartition(topic.name(), partition.partition()));
  }

  private Map<String, TopicDescription> describe() throws InterruptedException {
    try {
      return admin
          .describeTopics(names, new DescribeTopicsOptions().timeoutMs(TIMEOUT_MILLIS))
          .allTopicNames()
          .get();
    } catch (ExecutionException e) {
      throw new KafkaException("could not describe " + names, e.getCause());
    }
  }

  /** Returns from where to where those of the partitions reach of which Kafka tells it. */
  private Map<TopicPartition, LogRange> ranges(
      List<TopicPartition> partitions, Map<String, Uuid> topicIds) throws InterruptedException {
    ListOffsetsResult begins = offsets(partitions, OffsetSpec.earliest());
    ListOffsetsResult ends = offsets(partitions, OffsetSpec.latest());
    Map<TopicPartition, LogRange> ranges = new HashMap<>();
    for (TopicPartition partition : partitions) {
      try {
        ranges.put(
            partition,
            new LogRange(
                Objects.requireNonNull(topicIds.get(partition.topic())).toString(),
                begins.partitionResult(partition).get().offset(),
                ends.partitionResult(partition).get().offset()));
      } catch (ExecutionException e) {
        log.debug("The offsets of {} are not known", partition, e.getCause());
      }
    }
    return ranges;
  }

  private ListOffsetsResult offsets(List<TopicPartition> partitions, OffsetSpec spec) {
    return admin.listOffsets(
        partitions.stream().collect(Collectors.toMap(Function.identity(), partition -> spec)),
        new ListOffsetsOptions().timeoutMs(TIMEOUT_MILLIS));
  }

  private Position start(
      TopicPartition partition, State found, LogRange range, InputTopics.Layout layout) {
    Position stored = found.positions().get(partition);
    if (stored == null) {
      // Whatever it contains was never compared, however old it is.
      return begin(partition, new Position(range.topicId(), range.begin()));
    }
    String loss = range.loss(stored);
    if (loss == null) {
      return stored;
    }
    Position start =
        new Position(range.topicId(), range.isBefore(stored) ? range.end() : range.begin());
    if (found.isComplete()) {
      log.warn("{}: {}. Postgres is known to contain what they said", partition, loss);
      return begin(partition, start);
    }
    transactions.executeWithoutResult(
        status -> {
          suspensions.holdForLostRecords(
              IntStream.range(0, layout.shards()).boxed().toList(),
              partition
                  + ": "
                  + loss
                  + ", and this instance has not found that Postgres contains what they said: orders"
                  + " whose cancellation was published may look pending");
          begin(partition, start);
        });
    return start;
  }

  private Position begin(TopicPartition partition, Position start) {
    state.begin(partition, start.topicId(), start.nextOffset());
    return start;
  }
}
