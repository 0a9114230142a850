package io.ordertimeout.orders.platform.kafka;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;

/**
 * Up to where each input partition is stored, in Postgres: the next offset, below which every
 * record is in the tables, a dead letter, or lost and a hold placed for it. Thread-safe.
 */
@Repository
public class StoredPositions {

  /**
   * A position.
   *
   * @param topicId id of the topic that it is of
   * @param nextOffset the offset below which everything is stored
   */
  public record Stored(String topicId, long nextOffset) {}

  // Never back, so that an owner that was cut off and wakes does not undo what the next one stored.
  private static final String ADVANCE =
      """
      insert into intake_position as p (topic, partition, topic_id, next_offset)
      select topic, partition, topic_id, next_offset
      from unnest(?::text[], ?::int[], ?::text[], ?::bigint[])
        as i(topic, partition, topic_id, next_offset)
      order by topic, partition
      on conflict (topic, partition) do update set next_offset = excluded.next_offset
      where p.topic_id = excluded.topic_id and p.next_offset < excluded.next_offset
      """;

  private static final String RESTART =
      """
      insert into intake_position (topic, partition, topic_id, next_offset) values (?, ?, ?, ?)
      on conflict (topic, partition) do update set
        topic_id = excluded.topic_id, next_offset = excluded.next_offset
      """;

  private static final String FIND =
      """
      select topic, partition, topic_id, next_offset from intake_position
      where topic = any(?::text[])
      """;

  private final JdbcTemplate jdbc;

  StoredPositions(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  /** Advances the positions; to be called in the transaction that stores the records. */
  public void advance(Map<TopicPartition, Long> nextOffsets, InputTopics.Layout layout) {
    List<TopicPartition> partitions = List.copyOf(nextOffsets.keySet());
    jdbc.update(
        ADVANCE,
        partitions.stream().map(TopicPartition::topic).toArray(String[]::new),
        partitions.stream().mapToInt(TopicPartition::partition).toArray(),
        partitions.stream().map(p -> id(layout, p)).toArray(String[]::new),
        partitions.stream().mapToLong(nextOffsets::get).toArray());
  }

  /** Sets a position anew, be it back or in another topic of the same name. */
  public void restart(TopicPartition partition, long nextOffset, InputTopics.Layout layout) {
    jdbc.update(
        RESTART, partition.topic(), partition.partition(), id(layout, partition), nextOffset);
  }

  /** All positions of those topics. */
  public Map<TopicPartition, Stored> of(Collection<String> topics) {
    Map<TopicPartition, Stored> positions = new HashMap<>();
    jdbc.query(
        FIND,
        rs -> {
          positions.put(
              new TopicPartition(rs.getString("topic"), rs.getInt("partition")),
              new Stored(rs.getString("topic_id"), rs.getLong("next_offset")));
        },
        (Object) topics.toArray(String[]::new));
    return positions;
  }

  /** The id of the partition's topic, as it stands in Postgres. */
  public static String id(InputTopics.Layout layout, TopicPartition partition) {
    Uuid id = layout.ids().get(partition.topic());
    if (id == null) {
      throw new IllegalArgumentException("not an input topic: " + partition);
    }
    return id.toString();
  }
}
