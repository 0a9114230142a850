package io.ordertimeout.orders.intake;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.postgres.CachedRead;
import io.ordertimeout.orders.platform.postgres.ChangeDetector;
import io.ordertimeout.orders.position.Position;
import io.ordertimeout.orders.position.StoredPositions;
import io.ordertimeout.orders.position.StoredPositions.Snapshot;
import io.ordertimeout.orders.readback.ReadBack;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Compares the positions that an intake loop knows with those that Postgres contains. A position
 * that went back, or a server that was not there before, means that Postgres may have lost commits:
 * after a failover to a standby that lagged, or because a backup was restored. Thread-safe.
 */
@Component
class PositionComparison {

  private static final Logger log = LoggerFactory.getLogger(PositionComparison.class);

  /**
   * The result of a comparison.
   *
   * @param lost the shards of which Postgres may have lost something
   * @param readBack whether Postgres reflects everything that was published before it answered
   */
  record Result(Set<Integer> lost, boolean readBack) {}

  private final StoredPositions positions;
  private final ReadBack readBack;
  private final ChangeDetector changes;
  private final Collection<String> inputs;
  private final Counter losses;

  PositionComparison(
      StoredPositions positions,
      ReadBack readBack,
      ChangeDetector changes,
      OrderTimeoutProperties properties,
      MeterRegistry meters) {
    this.positions = positions;
    this.readBack = readBack;
    this.changes = changes;
    this.inputs = properties.topics().inputs();
    this.losses =
        Counter.builder("order.timeout.lost.positions")
            .description(
                "Stored positions that went back because Postgres had lost commits; their records are"
                    + " read again")
            .register(meters);
  }

  /** Begins to watch what is compared. */
  CachedRead watch() {
    return changes.watch(StoredPositions.FINGERPRINT);
  }

  /**
   * Compares positions and updates those that another instance has advanced.
   *
   * @param known the positions that the loop knows
   * @param shards the shards of the loop
   * @return the shards of which Postgres may have lost something, and whether it reflects what was
   *     published
   */
  Result compare(KnownPositions known, Set<Integer> shards) {
    Snapshot snapshot = positions.read(inputs);
    String server = known.server();
    Set<Integer> lost = new TreeSet<>();
    known
        .all()
        .forEach(
            (partition, before) -> {
              Position now = snapshot.positions().get(partition);
              if (hasGoneBack(before, now)) {
                report(partition, before, now);
                lost.add(partition.partition());
              } else if (now != null) {
                known.read(partition, now);
              }
            });
    boolean reflected = readBack.isReflected(snapshot.server(), !lost.isEmpty());
    known.answeredBy(snapshot.server());
    if (server != null && !server.equals(snapshot.server())) {
      log.warn(
          "Postgres was restarted, restored or failed over: {} answers, and {} did before (start time,"
              + " database, table). The wheels are rebuilt from what it contains",
          snapshot.server(),
          server);
      lost.addAll(shards);
    }
    return new Result(lost, reflected);
  }

  private static boolean hasGoneBack(Position before, @Nullable Position now) {
    return now == null
        || (now.topicId().equals(before.topicId()) && now.nextOffset() < before.nextOffset());
  }

  private void report(TopicPartition partition, Position before, @Nullable Position now) {
    losses.increment();
    log.error(
        "Postgres has lost commits: the stored position of {} went back from {} to {}. These records"
            + " are read again; until then nothing of this shard is decided",
        partition,
        before.nextOffset(),
        now == null ? "none" : now.nextOffset());
  }
}
