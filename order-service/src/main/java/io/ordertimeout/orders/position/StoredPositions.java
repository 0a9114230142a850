package io.ordertimeout.orders.position;

import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.platform.postgres.ServerIdentity;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * The position of each input partition: the offset below which every record is stored, is a dead
 * letter, or was lost and a hold was placed for it.
 *
 * <p>A position changes only from the value that the writer knows. A former owner that resumes
 * therefore cannot move it, and a Postgres that has lost commits is not written over the gap.
 * Thread-safe.
 */
@Repository
public class StoredPositions {

  /**
   * All positions, as one server contains them.
   *
   * @param positions the position of each partition that has one
   * @param server the {@linkplain ServerIdentity identity} of the server
   */
  public record Snapshot(Map<TopicPartition, Position> positions, String server) {}

  /**
   * SQL condition: every position has reached the end that is given for its partition, in the topic
   * with the given id. Its parameters are those of {@link #ends}.
   */
  public static final String REACH_ENDS = PositionTable.reachEnds("intake_position");

  private static final String BEGIN =
      """
      insert into intake_position (topic, partition, topic_id, next_offset)
      values (:topic, :partition, :topicId, :nextOffset)
      on conflict do nothing
      """;

  private static final String RESTART =
      """
      update intake_position set topic_id = :topicId, next_offset = :nextOffset
      where topic = :topic and partition = :partition
        and topic_id = :knownTopicId and next_offset = :known
      """;

  /** SQL query of a text that changes whenever the result of {@link #read} does. */
  public static final String FINGERPRINT =
      """
      select concat_ws(' ', md5(string_agg(p::text, ',' order by p.topic, p.partition)),
        %s)
      from intake_position p
      """
          .formatted(ServerIdentity.SQL);

  private final JdbcClient client;
  private final PositionTable table;

  StoredPositions(JdbcClient client) {
    this.client = client;
    this.table = new PositionTable(client, "intake_position");
  }

  /** The parameters of {@link #REACH_ENDS}; an end of a topic without an id is never reached. */
  public static Map<String, Object> ends(
      Map<TopicPartition, Long> ends, Map<String, Uuid> topicIds) {
    return PositionTable.ends(ends, topicIds);
  }

  /**
   * Advances positions, in the transaction that stores the records below them.
   *
   * @param nextOffsets the new positions
   * @param known the position of each of these partitions, as the caller knows it
   * @param server the server that the caller knows
   * @throws PositionsChangedException if Postgres contains other positions, or another server
   *     answers, so that the caller's wheels may lack orders; the transaction must not be committed
   */
  public void advance(
      Map<TopicPartition, Long> nextOffsets,
      Map<TopicPartition, Long> known,
      String server,
      InputTopics.Layout layout) {
    Map<TopicPartition, Position> from = new HashMap<>();
    nextOffsets
        .keySet()
        .forEach(
            p -> from.put(p, new Position(id(layout, p), Objects.requireNonNull(known.get(p)))));
    table.advance(nextOffsets, from, server);
  }

  /** Stores the first position of a partition; one that exists stays. */
  public void begin(TopicPartition partition, long nextOffset, InputTopics.Layout layout) {
    client
        .sql(BEGIN)
        .param("topic", partition.topic())
        .param("partition", partition.partition())
        .param("topicId", id(layout, partition))
        .param("nextOffset", nextOffset)
        .update();
  }

  /**
   * Replaces a position, even by an earlier one or by one in another topic of the same name.
   *
   * @param known the position that it replaces
   * @throws PositionsChangedException if Postgres contains another one
   */
  public void restart(
      TopicPartition partition, Position known, long nextOffset, InputTopics.Layout layout) {
    int restarted =
        client
            .sql(RESTART)
            .param("topic", partition.topic())
            .param("partition", partition.partition())
            .param("knownTopicId", known.topicId())
            .param("known", known.nextOffset())
            .param("topicId", id(layout, partition))
            .param("nextOffset", nextOffset)
            .update();
    if (restarted == 0) {
      throw new PositionsChangedException(List.of(partition));
    }
  }

  /** Returns all positions in those topics. */
  public Snapshot read(Collection<String> topics) {
    return table.read(topics);
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
