package io.ordertimeout.orders.platform.kafka;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * The position of each input partition: the offset below which every record is stored, is a dead
 * letter, or was lost and a hold was placed for it. Thread-safe.
 */
@Repository
public class StoredPositions {

  /**
   * A position.
   *
   * @param topicId the id of the topic that the offset belongs to
   * @param nextOffset the offset below which everything is stored
   */
  public record Stored(String topicId, long nextOffset) {}

  // Never backwards, so that a former owner that resumes does not undo what the next one stored.
  private static final String ADVANCE =
      """
      insert into intake_position as p (topic, partition, topic_id, next_offset)
      select topic, partition, topic_id, next_offset
      from unnest(
        :topics::text[], :partitions::int[], :topicIds::text[], :nextOffsets::bigint[])
        as i(topic, partition, topic_id, next_offset)
      order by topic, partition
      on conflict (topic, partition) do update set next_offset = excluded.next_offset
      where p.topic_id = excluded.topic_id and p.next_offset < excluded.next_offset
      """;

  private static final String RESTART =
      """
      insert into intake_position (topic, partition, topic_id, next_offset)
      values (:topic, :partition, :topicId, :nextOffset)
      on conflict (topic, partition) do update set
        topic_id = excluded.topic_id, next_offset = excluded.next_offset
      """;

  private static final String FIND =
      """
      select topic, partition, topic_id, next_offset from intake_position
      where topic = any(:topics::text[])
      """;

  private final JdbcClient client;

  StoredPositions(JdbcClient client) {
    this.client = client;
  }

  /** Advances positions, in the transaction that stores the records below them. */
  public void advance(Map<TopicPartition, Long> nextOffsets, InputTopics.Layout layout) {
    List<TopicPartition> partitions = List.copyOf(nextOffsets.keySet());
    client
        .sql(ADVANCE)
        .param("topics", partitions.stream().map(TopicPartition::topic).toArray(String[]::new))
        .param("partitions", partitions.stream().mapToInt(TopicPartition::partition).toArray())
        .param("topicIds", partitions.stream().map(p -> id(layout, p)).toArray(String[]::new))
        .param("nextOffsets", partitions.stream().mapToLong(nextOffsets::get).toArray())
        .update();
  }

  /** Sets a position anew, even backwards or in another topic of the same name. */
  public void restart(TopicPartition partition, long nextOffset, InputTopics.Layout layout) {
    client
        .sql(RESTART)
        .param("topic", partition.topic())
        .param("partition", partition.partition())
        .param("topicId", id(layout, partition))
        .param("nextOffset", nextOffset)
        .update();
  }

  /** Returns all positions in those topics. */
  public Map<TopicPartition, Stored> of(Collection<String> topics) {
    Map<TopicPartition, Stored> positions = new HashMap<>();
    client
        .sql(FIND)
        .param("topics", topics.toArray(String[]::new))
        .query(
            row -> {
              positions.put(
                  new TopicPartition(row.getString("topic"), row.getInt("partition")),
                  new Stored(row.getString("topic_id"), row.getLong("next_offset")));
            });
    return positions;
  }

  /** Returns the id of the partition's topic, as it is stored. */
  public static String id(InputTopics.Layout layout, TopicPartition partition) {
    Uuid id = layout.ids().get(partition.topic());
    if (id == null) {
      throw new IllegalArgumentException("not an input topic: " + partition);
    }
    return id.toString();
  }
}
