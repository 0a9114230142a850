package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.position.Position;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * The positions that Postgres contains, as far as an intake loop knows: what it has read or stored
 * there last. Not thread-safe.
 */
final class KnownPositions {

  private final Map<TopicPartition, Position> positions = new HashMap<>();
  private @Nullable String server;

  /** Records what Postgres contains. */
  void read(TopicPartition partition, Position position) {
    positions.put(partition, position);
  }

  /** Records that positions were advanced and the transaction is committed. */
  void stored(Map<TopicPartition, Long> nextOffsets) {
    nextOffsets.forEach(
        (partition, next) ->
            positions.computeIfPresent(
                partition, (same, stored) -> new Position(stored.topicId(), next)));
  }

  /** Forgets partitions that are not read any more. */
  void retainAll(Set<TopicPartition> partitions) {
    positions.keySet().retainAll(partitions);
  }

  void clear() {
    positions.clear();
    server = null;
  }

  /** The position of the partition; 0 if none is known. */
  long offset(TopicPartition partition) {
    Position position = positions.get(partition);
    return position == null ? 0 : position.nextOffset();
  }

  Map<TopicPartition, Long> offsets() {
    Map<TopicPartition, Long> offsets = new HashMap<>();
    positions.forEach((partition, position) -> offsets.put(partition, position.nextOffset()));
    return offsets;
  }

  Map<TopicPartition, Position> all() {
    return Map.copyOf(positions);
  }

  /** The identity of the server that has last answered; null before the first answer. */
  @Nullable String server() {
    return server;
  }

  /** The identity of the server whose positions are known. */
  String requireServer() {
    return Objects.requireNonNull(server, "no position has been read yet");
  }

  /** Records which server has answered. */
  void answeredBy(String identity) {
    server = identity;
  }
}
