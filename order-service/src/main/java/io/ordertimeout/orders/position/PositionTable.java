package io.ordertimeout.orders.position;

import io.ordertimeout.orders.platform.postgres.ServerIdentity;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * A table with a position for each partition. A position advances only from the value that the
 * writer knows, on the server that the writer knows. Thread-safe.
 */
final class PositionTable {

  private static final String REACH_ENDS =
      """
      not exists (
        select from unnest(
          :endTopics::text[], :endPartitions::int[], :endTopicIds::text[], :endOffsets::bigint[])
          as e(topic, partition, topic_id, next_offset)
        left join %s p on p.topic = e.topic and p.partition = e.partition
          and p.topic_id = e.topic_id and p.next_offset >= e.next_offset
        where p.topic is null)""";

  private static final String ADVANCE =
      """
      update %s p set next_offset = i.next_offset
      from unnest(
        :topics::text[], :partitions::int[], :topicIds::text[], :known::bigint[],
        :nextOffsets::bigint[])
        as i(topic, partition, topic_id, known, next_offset)
      where p.topic = i.topic and p.partition = i.partition and p.topic_id = i.topic_id
        and p.next_offset = i.known and %s = :server
      """;

  private static final String FIND =
      """
      select p.topic, p.partition, p.topic_id, p.next_offset, %s as server
      from (select) always
      left join %s p on p.topic = any(:topics::text[])
      """;

  private final JdbcClient client;
  private final String advance;
  private final String find;

  PositionTable(JdbcClient client, String table) {
    this.client = client;
    this.advance = ADVANCE.formatted(table, ServerIdentity.SQL);
    this.find = FIND.formatted(ServerIdentity.SQL, table);
  }

  /**
   * SQL condition: every position has reached the end that is given for its partition, in the topic
   * with the given id. Its parameters are those of {@link #ends}.
   */
  static String reachEnds(String table) {
    return REACH_ENDS.formatted(table);
  }

  /** The parameters of {@link #reachEnds}; an end of a topic without an id is never reached. */
  static Map<String, Object> ends(Map<TopicPartition, Long> ends, Map<String, Uuid> topicIds) {
    List<TopicPartition> partitions = List.copyOf(ends.keySet());
    return Map.of(
        "endTopics",
        partitions.stream().map(TopicPartition::topic).toArray(String[]::new),
        "endPartitions",
        partitions.stream().mapToInt(TopicPartition::partition).toArray(),
        "endTopicIds",
        partitions.stream()
            .map(p -> String.valueOf(topicIds.get(p.topic())))
            .toArray(String[]::new),
        "endOffsets",
        partitions.stream().mapToLong(ends::get).toArray());
  }

  /** Returns all positions in those topics, as one server contains them. */
  StoredPositions.Snapshot read(Collection<String> topics) {
    Map<TopicPartition, Position> positions = new HashMap<>();
    List<String> server =
        client
            .sql(find)
            .param("topics", topics.toArray(String[]::new))
            .query(
                (row, number) -> {
                  String topic = row.getString("topic");
                  if (topic != null) {
                    positions.put(
                        new TopicPartition(topic, row.getInt("partition")),
                        new Position(row.getString("topic_id"), row.getLong("next_offset")));
                  }
                  return row.getString("server");
                })
            .list();
    return new StoredPositions.Snapshot(positions, server.get(0));
  }

  /**
   * Advances positions.
   *
   * @param nextOffsets the new positions
   * @param known the position of each of these partitions, as the caller knows it
   * @param server the server that the caller knows
   * @throws PositionsChangedException if Postgres contains other positions, or another server
   *     answers; the transaction must not be committed
   */
  void advance(
      Map<TopicPartition, Long> nextOffsets, Map<TopicPartition, Position> known, String server) {
    List<TopicPartition> partitions = List.copyOf(nextOffsets.keySet());
    List<Position> from =
        partitions.stream().map(partition -> Objects.requireNonNull(known.get(partition))).toList();
    int advanced =
        client
            .sql(advance)
            .param("topics", partitions.stream().map(TopicPartition::topic).toArray(String[]::new))
            .param("partitions", partitions.stream().mapToInt(TopicPartition::partition).toArray())
            .param("topicIds", from.stream().map(Position::topicId).toArray(String[]::new))
            .param("known", from.stream().mapToLong(Position::nextOffset).toArray())
            .param("nextOffsets", partitions.stream().mapToLong(nextOffsets::get).toArray())
            .param("server", server)
            .update();
    if (advanced != partitions.size()) {
      throw new PositionsChangedException(partitions);
    }
  }
}
