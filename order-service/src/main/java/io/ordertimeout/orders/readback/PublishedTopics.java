package io.ordertimeout.orders.readback;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.platform.kafka.KafkaConsumers;
import io.ordertimeout.orders.platform.kafka.ReadBackState;
import io.ordertimeout.orders.platform.kafka.ReadBackState.State;
import io.ordertimeout.orders.platform.kafka.StoredPositions.Stored;
import io.ordertimeout.orders.platform.kafka.TopicLayoutChangedException;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.suspension.ExpiryHolds;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
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
  private static final Duration TIMEOUT = Duration.ofMillis(TIMEOUT_MILLIS);

  /** The topics as Kafka describes them now. */
  private record Found(Map<TopicPartition, Long> begins, Map<TopicPartition, Long> ends) {}

  private final Admin admin;
  private final KafkaConsumers consumers;
  private final ReadBackState state;
  private final ExpiryHolds holds;
  private final InputTopics inputTopics;
  private final DatabaseClock clock;
  private final TransactionTemplate transactions;
  private final List<String> names;
  private final Duration startBack;

  PublishedTopics(
      Admin admin,
      KafkaConsumers consumers,
      ReadBackState state,
      ExpiryHolds holds,
      InputTopics inputTopics,
      DatabaseClock clock,
      TransactionTemplate transactions,
      OrderTimeoutProperties properties) {
    this.admin = admin;
    this.consumers = consumers;
    this.state = state;
    this.holds = holds;
    this.inputTopics = inputTopics;
    this.clock = clock;
    this.transactions = transactions;
    this.names = List.of(properties.topics().cancelled(), properties.topics().conflict());
    this.startBack = properties.intake().startBack();
  }

  /**
   * Opens a reader at the stored positions. Places holds on all shards if records between them and
   * the present ends are gone that a new server of Postgres may not reflect.
   *
   * @throws TopicLayoutChangedException if the input topics have not been checked
   */
  PublishedTopicReader open() throws InterruptedException {
    InputTopics.Layout layout = inputTopics.layout();
    if (layout == null) {
      throw new TopicLayoutChangedException();
    }
    State found = Objects.requireNonNull(transactions.execute(status -> state.read(names)));
    Consumer<byte[], byte[]> consumer = consumers.createStandalone();
    try {
      // Only now, so that the ends contain all that was published before the server answered.
      Map<String, TopicDescription> topics = describe();
      List<TopicPartition> partitions =
          topics.values().stream()
              .flatMap(
                  topic ->
                      topic.partitions().stream()
                          .map(
                              partition -> new TopicPartition(topic.name(), partition.partition())))
              .toList();
      consumer.assign(partitions);
      Found offsets =
          new Found(
              consumer.beginningOffsets(partitions, TIMEOUT),
              consumer.endOffsets(partitions, TIMEOUT));
      Map<String, Uuid> topicIds =
          topics.values().stream()
              .collect(Collectors.toMap(TopicDescription::name, TopicDescription::topicId));
      Map<TopicPartition, Stored> positions = new HashMap<>();
      for (TopicPartition partition : partitions) {
        String topicId = Objects.requireNonNull(topicIds.get(partition.topic())).toString();
        Stored position = start(partition, topicId, found, offsets, consumer, layout);
        positions.put(partition, position);
        consumer.seek(partition, position.nextOffset());
      }
      return new PublishedTopicReader(
          consumer, layout, found, positions, offsets.ends, topicIds, names.get(0));
    } catch (RuntimeException | InterruptedException e) {
      consumer.close();
      throw e;
    }
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

  private Stored start(
      TopicPartition partition,
      String topicId,
      State found,
      Found offsets,
      Consumer<byte[], byte[]> consumer,
      InputTopics.Layout layout) {
    long begin = offsets.begins.getOrDefault(partition, 0L);
    long end = offsets.ends.getOrDefault(partition, begin);
    Stored stored = found.positions().get(partition);
    if (stored == null) {
      // A partition that was added later contains nothing that was not published since.
      long first = found.first() ? since(partition, consumer, end) : begin;
      return begin(partition, new Stored(topicId, first));
    }
    boolean sameTopic = stored.topicId().equals(topicId);
    if (sameTopic && stored.nextOffset() >= begin && stored.nextOffset() <= end) {
      return stored;
    }
    Stored start = new Stored(topicId, sameTopic && stored.nextOffset() > end ? end : begin);
    String loss =
        sameTopic
            ? "its records from offset %d on are gone (it reaches from %d to %d)"
                .formatted(stored.nextOffset(), begin, end)
            : "it was recreated after offset %d".formatted(stored.nextOffset());
    if (found.complete()) {
      log.warn("{}: {}. Postgres has not changed, so it contains what they said", partition, loss);
      return begin(partition, start);
    }
    transactions.executeWithoutResult(
        status -> {
          holds.placeForLostRecords(
              IntStream.range(0, layout.partitions()).boxed().toList(),
              partition
                  + ": "
                  + loss
                  + ", and Postgres was restarted, restored or failed over: orders whose cancellation"
                  + " was published may look pending");
          begin(partition, start);
        });
    return start;
  }

  private Stored begin(TopicPartition partition, Stored start) {
    state.begin(partition, start.topicId(), start.nextOffset());
    return start;
  }

  private long since(TopicPartition partition, Consumer<byte[], byte[]> consumer, long end) {
    Instant from = clock.now().minus(startBack);
    OffsetAndTimestamp first =
        consumer
            .offsetsForTimes(Map.of(partition, Math.max(0, from.toEpochMilli())), TIMEOUT)
            .get(partition);
    return first == null ? end : first.offset();
  }
}
