package io.ordertimeout.orders.position;

import io.ordertimeout.orders.platform.postgres.ServerIdentity;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * The progress of the read-back: up to where Postgres reflects the service's own output topics, and
 * which server of it this process has found to reflect everything that was published before. The
 * position is in Postgres and shared by all instances. The server is in memory alone: what a server
 * says of itself is no proof, since it may have been the primary before, or may be restored from a
 * time at which that was true. Thread-safe.
 */
@Repository
public class ReadBackState {

  /**
   * SQL condition: the server that executes the statement reflects everything that was published
   * before it began to answer. Parameter: {@code :reflected}, from {@link #reflected}.
   */
  public static final String IS_REFLECTED = ServerIdentity.SQL + " = :reflected";

  /**
   * The state, as one server contains it.
   *
   * @param positions the position of each output partition that has one
   * @param partitionCounts the number of partitions of each topic that never had another number
   * @param server the identity of the server
   * @param reflected what the server was found to reflect
   * @param noticed how often another server was noticed until then
   */
  public record State(
      Map<TopicPartition, Position> positions,
      Map<String, Integer> partitionCounts,
      String server,
      ReflectedServer reflected,
      int noticed) {

    /** Whether the server reflects everything that was published before it answered. */
    public boolean isComplete() {
      return isKnown() && reflected.isEntire();
    }

    /** Whether the server reflects that, except for what could not be read. */
    public boolean isKnown() {
      return server.equals(reflected.identity());
    }
  }

  // A partition that was added has a row with another count, or none yet.
  private static final String FIND_COUNTS =
      """
      select topic, min(partition_count) as partitions from published_position
      where topic = any(:topics::text[])
      group by topic
      having count(*) = min(partition_count) and count(*) = max(partition_count)
        and count(*) = count(partition_count)
      """;

  private static final String BEGIN =
      """
      insert into published_position as p (topic, partition, topic_id, next_offset)
      values (:topic, :partition, :topicId, :nextOffset)
      on conflict (topic, partition) do update
      set topic_id = excluded.topic_id, next_offset = excluded.next_offset, partition_count = null
      """;

  private static final String REACHES_ENDS =
      "select %s = :server and %s"
          .formatted(ServerIdentity.SQL, PositionTable.reachEnds("published_position"));

  // Only once: a count that has changed stays visible.
  private static final String RECORD_COUNTS =
      """
      update published_position p set partition_count = i.partitions
      from (
        select topic, count(*) as partitions
        from unnest(:topics::text[]) as i(topic)
        group by topic) i
      where p.topic = i.topic and p.partition_count is null and %s = :server
      """
          .formatted(ServerIdentity.SQL);

  private static final String IS_REFLECTED_NOW = "select " + IS_REFLECTED;

  private final JdbcClient client;
  private final PositionTable table;

  /** What this process has read back last. */
  private volatile ReflectedServer reflected = ReflectedServer.NONE;

  /** The server that this process has noticed last. */
  private String server = "";

  /** How often it was another one, or its positions had gone back. */
  private int noticed;

  ReadBackState(JdbcClient client) {
    this.client = client;
    this.table = new PositionTable(client, "published_position");
  }

  /**
   * Reads the state for those topics; needs a surrounding transaction, which one server answers.
   */
  public State read(List<String> topics) {
    StoredPositions.Snapshot snapshot = table.read(topics);
    Map<String, Integer> counts = new HashMap<>();
    client
        .sql(FIND_COUNTS)
        .param("topics", topics.toArray(String[]::new))
        .query(
            row -> {
              counts.put(row.getString("topic"), row.getInt("partitions"));
            });
    synchronized (this) {
      notice(snapshot.server(), false);
      return new State(snapshot.positions(), counts, snapshot.server(), reflected, noticed);
    }
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
   * @param server the server that they were read from
   * @throws PositionsChangedException if Postgres contains other positions, or another server
   *     answers
   */
  public void advance(
      Map<TopicPartition, Long> nextOffsets, Map<TopicPartition, Position> known, String server) {
    table.advance(nextOffsets, known, server);
  }

  /**
   * Records which server answers. If it is another one, or its positions have gone back, what was
   * found before is forgotten, and so is a read-back that has begun: while other servers answered,
   * decisions may have been published that this one has missed.
   *
   * @return whether the server reflects what was published, except for what could not be read
   */
  public synchronized boolean notice(String answering, boolean wentBack) {
    if (wentBack || !answering.equals(server)) {
      server = answering;
      noticed++;
      reflected = ReflectedServer.NONE;
    }
    return answering.equals(reflected.identity());
  }

  /**
   * Remembers that the server reflects what was published, unless another one answers or was
   * noticed since, or one of its positions is below its end. What was read once stays read.
   *
   * @param begun what the server contained before Kafka was asked for the ends
   * @param unread the partitions that could not be read
   * @param partitionCounts the number of partitions of each topic that never had another number
   * @param ends where the other partitions ended
   * @param topicIds the ids of the topics that the ends belong to, by name
   * @return whether it is remembered
   */
  public boolean complete(
      State begun,
      Collection<TopicPartition> unread,
      Map<String, Integer> partitionCounts,
      Map<TopicPartition, Long> ends,
      Map<String, Uuid> topicIds) {
    boolean reached =
        client
            .sql(REACHES_ENDS)
            .param("server", begun.server())
            .params(PositionTable.ends(ends, topicIds))
            .query(Boolean.class)
            .single();
    if (reached && unread.isEmpty()) {
      client
          .sql(RECORD_COUNTS)
          .param("topics", ends.keySet().stream().map(TopicPartition::topic).toArray(String[]::new))
          .param("server", begun.server())
          .update();
    }
    return reached && remember(begun, unread, partitionCounts);
  }

  private synchronized boolean remember(
      State begun, Collection<TopicPartition> unread, Map<String, Integer> partitionCounts) {
    if (begun.noticed() != noticed) {
      return false;
    }
    List<TopicPartition> never = new ArrayList<>(unread);
    if (begun.server().equals(reflected.identity())) {
      never.retainAll(reflected.unread());
    }
    reflected = new ReflectedServer(begun.server(), never, partitionCounts);
    return true;
  }

  /** The server that this process has read back last. */
  public ReflectedServer reflected() {
    return reflected;
  }

  /** That server if it has this identity; otherwise none. */
  public ReflectedServer reflected(String answering) {
    ReflectedServer known = reflected;
    return known.identity().equals(answering) ? known : ReflectedServer.NONE;
  }

  /**
   * Returns whether that server answers now and reflects all that was published about the order.
   */
  public boolean isReflected(String orderId) {
    ReflectedServer known = reflected;
    return known.reflects(orderId)
        && client
            .sql(IS_REFLECTED_NOW)
            .param("reflected", known.identity())
            .query(Boolean.class)
            .single();
  }
}
