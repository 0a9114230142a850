package io.ordertimeout.orders.platform.kafka;

import static io.ordertimeout.orders.platform.postgres.ResultSets.parameter;
import static io.ordertimeout.orders.platform.postgres.ResultSets.requiredInstant;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * The progress of the read-back in Postgres: up to where it reflects the service's own output
 * topics, and for which server of Postgres that was last established to be everything.
 *
 * <p>Commits can be lost only when a server ends: it crashes, a standby takes its place, or a
 * backup is restored. Each server has its own start time, so a start time for which nothing was
 * read back yet means that published decisions may be missing. Thread-safe.
 */
@Repository
public class ReadBackState {

  /**
   * SQL condition: everything that was published before this server began to answer is reflected in
   * its tables.
   */
  public static final String IS_COMPLETE =
      "exists (select from read_back where server_started_at = pg_postmaster_start_time())";

  /**
   * The state, as one server contains it.
   *
   * @param positions the position of each output partition that has one
   * @param serverStartedAt when the server started
   * @param complete whether the server reflects everything that was published before it answered
   * @param first whether no position was ever stored
   */
  public record State(
      Map<TopicPartition, StoredPositions.Stored> positions,
      Instant serverStartedAt,
      boolean complete,
      boolean first) {}

  private static final String FIND =
      """
      select topic, partition, topic_id, next_offset from published_position
      where topic = any(:topics::text[])
      """;

  private static final String SERVER =
      """
      select pg_postmaster_start_time() as server_started_at, %s as complete,
        not exists (select from published_position) as first
      """
          .formatted(IS_COMPLETE);

  private static final String BEGIN =
      """
      insert into published_position as p (topic, partition, topic_id, next_offset)
      values (:topic, :partition, :topicId, :nextOffset)
      on conflict (topic, partition) do update
      set topic_id = excluded.topic_id, next_offset = excluded.next_offset
      """;

  private static final String ADVANCE =
      """
      update published_position p set next_offset = i.next_offset
      from unnest(
        :topics::text[], :partitions::int[], :topicIds::text[], :known::bigint[],
        :nextOffsets::bigint[])
        as i(topic, partition, topic_id, known, next_offset)
      where p.topic = i.topic and p.partition = i.partition and p.topic_id = i.topic_id
        and p.next_offset = i.known
      """;

  private static final String COMPLETE =
      """
      insert into read_back (server_started_at)
      select pg_postmaster_start_time()
      where pg_postmaster_start_time() = :serverStartedAt::timestamptz
        and not exists (
          select from unnest(
            :topics::text[], :partitions::int[], :topicIds::text[], :ends::bigint[])
            as e(topic, partition, topic_id, next_offset)
          left join published_position p on p.topic = e.topic and p.partition = e.partition
            and p.topic_id = e.topic_id and p.next_offset >= e.next_offset
          where p.topic is null)
      on conflict (singleton) do update set server_started_at = excluded.server_started_at
      """;

  private static final String FORGET = "delete from read_back";

  private final JdbcClient client;

  ReadBackState(JdbcClient client) {
    this.client = client;
  }

  /**
   * Reads the state for those topics; needs a surrounding transaction, which one server answers.
   */
  public State read(List<String> topics) {
    Map<TopicPartition, StoredPositions.Stored> positions = new HashMap<>();
    client
        .sql(FIND)
        .param("topics", topics.toArray(String[]::new))
        .query(
            row -> {
              positions.put(
                  new TopicPartition(row.getString("topic"), row.getInt("partition")),
                  new StoredPositions.Stored(
                      row.getString("topic_id"), row.getLong("next_offset")));
            });
    return client
        .sql(SERVER)
        .query(
            (row, number) ->
                new State(
                    positions,
                    requiredInstant(row, "server_started_at"),
                    row.getBoolean("complete"),
                    row.getBoolean("first")))
        .single();
  }

  /** Sets the position of a partition, whatever it was. */
  public void begin(TopicPartition partition, String topicId, long nextOffset) {
    client
        .sql(BEGIN)
        .param("topic", partition.topic())
        .param("partition", partition.partition())
        .param("topicId", topicId)
        .param("nextOffset", nextOffset)
        .update();
  }

  /**
   * Advances positions, in the transaction that restores what is missing below them.
   *
   * @throws PositionsChangedException if Postgres contains other positions
   */
  public void advance(
      Map<TopicPartition, Long> nextOffsets, Map<TopicPartition, StoredPositions.Stored> known) {
    List<Map.Entry<TopicPartition, StoredPositions.Stored>> from =
        known.entrySet().stream().filter(entry -> nextOffsets.containsKey(entry.getKey())).toList();
    int advanced =
        client
            .sql(ADVANCE)
            .param("topics", from.stream().map(p -> p.getKey().topic()).toArray(String[]::new))
            .param("partitions", from.stream().mapToInt(p -> p.getKey().partition()).toArray())
            .param(
                "topicIds", from.stream().map(p -> p.getValue().topicId()).toArray(String[]::new))
            .param("known", from.stream().mapToLong(p -> p.getValue().nextOffset()).toArray())
            .param(
                "nextOffsets",
                from.stream()
                    .mapToLong(p -> nextOffsets.getOrDefault(p.getKey(), p.getValue().nextOffset()))
                    .toArray())
            .update();
    if (advanced != nextOffsets.size()) {
      throw new PositionsChangedException(nextOffsets.keySet());
    }
  }

  /**
   * Records that the server with that start time reflects everything, unless another server answers
   * or one of its positions is below its end.
   *
   * @param ends where the output partitions ended after that server had begun to answer
   * @param topicIds the ids of the topics that the ends belong to, by name
   * @return whether it was recorded
   */
  public boolean complete(
      Instant serverStartedAt, Map<TopicPartition, Long> ends, Map<String, Uuid> topicIds) {
    List<TopicPartition> partitions = List.copyOf(ends.keySet());
    return client
            .sql(COMPLETE)
            .param("serverStartedAt", parameter(serverStartedAt))
            .param("topics", partitions.stream().map(TopicPartition::topic).toArray(String[]::new))
            .param("partitions", partitions.stream().mapToInt(TopicPartition::partition).toArray())
            .param(
                "topicIds",
                partitions.stream()
                    .map(p -> Objects.requireNonNull(topicIds.get(p.topic())).toString())
                    .toArray(String[]::new))
            .param("ends", partitions.stream().mapToLong(ends::get).toArray())
            .update()
        > 0;
  }

  /** Forgets for which server everything was read back, so that it is read back again. */
  public void forget() {
    client.sql(FORGET).update();
  }
}
