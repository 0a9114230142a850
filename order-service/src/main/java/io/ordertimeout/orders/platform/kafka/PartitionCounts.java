package io.ordertimeout.orders.platform.kafka;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.OrderTimeoutProperties.WatermarkScope;
import io.ordertimeout.orders.platform.postgres.CachedRead;
import io.ordertimeout.orders.platform.postgres.ChangeDetector;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;

/**
 * The history of the input topics' partition counts, in Postgres, and whether it shows that an
 * order and its payment may be in partitions with different numbers: the count has changed, or a
 * misplaced event was stored, which is an event of a settling topic from another partition than its
 * order. If they may, orders are decided only once the payments of all partitions are read.
 *
 * <p>The deciding statement checks the table itself. The copy in memory, at most two seconds old,
 * only determines which partitions the watermark asks for. Thread-safe.
 */
@Repository
public class PartitionCounts {

  /**
   * SQL condition: the ends that are given for a decision are those of all partitions, as {@code
   * :allPartitions} says, or need not be.
   */
  public static final String ENDS_SUFFICE =
      """
      (:allPartitions or not exists (
            select from partition_count having count(*) > 1 or bool_or(misplaced)))""";

  private static final Logger log = LoggerFactory.getLogger(PartitionCounts.class);

  private static final String INSERT =
      "insert into partition_count (partitions) values (?) on conflict do nothing";

  private static final String FIND_OTHERS =
      "select partitions from partition_count where partitions <> ?";

  private static final String FIND_GREATEST =
      "select coalesce(max(partitions), 0) from partition_count";

  // The first count was in force before it was noticed.
  private static final String FIND_AT =
      """
      select partitions from partition_count
      order by noticed_at <= ? desc, case when noticed_at <= ? then noticed_at end desc, noticed_at
      limit 1
      """;

  // Once the count has changed, the payments of older orders are expected in other partitions.
  private static final String RECORD_MISPLACED =
      """
      update partition_count set misplaced = true
      where not misplaced and (select count(*) from partition_count) = 1
      """;

  private static final String FIND_EVIDENCE =
      """
      select count(*) > 1 as changed, coalesce(bool_or(misplaced), false) as misplaced
      from partition_count
      """;

  private static final String FINGERPRINT =
      "select string_agg(c::text, ',' order by partitions) from partition_count c";

  /**
   * What Postgres says.
   *
   * @param changed whether the count has changed since the first start
   * @param misplaced whether a misplaced event was stored
   */
  private record Evidence(boolean changed, boolean misplaced) {

    boolean isConclusive() {
      return changed || misplaced;
    }
  }

  private final JdbcTemplate jdbc;
  private final CachedRead watched;
  private final boolean always;
  private volatile Evidence evidence = new Evidence(false, false);

  PartitionCounts(JdbcTemplate jdbc, ChangeDetector changes, OrderTimeoutProperties properties) {
    this.jdbc = jdbc;
    this.watched = changes.watch(FINGERPRINT);
    this.always = properties.expiry().watermarkScope() == WatermarkScope.ALL;
  }

  /** Records the current partition count and returns all others that the topics have had. */
  Set<Integer> record(int partitions) {
    jdbc.update(INSERT, partitions);
    watched.forget();
    return Set.copyOf(jdbc.queryForList(FIND_OTHERS, Integer.class, partitions));
  }

  /** Returns how many shards orders may have: the greatest partition count so far. */
  public int greatest() {
    return Objects.requireNonNull(jdbc.queryForObject(FIND_GREATEST, Integer.class));
  }

  /** Returns the partition count at a time; empty if none has been noticed yet. */
  public Optional<Integer> at(Instant time) {
    OffsetDateTime parameter = time.atOffset(ZoneOffset.UTC);
    return jdbc.queryForList(FIND_AT, Integer.class, parameter, parameter).stream().findFirst();
  }

  /**
   * Records that misplaced events were stored, in the transaction that stores them. Every time,
   * because Postgres may have lost what an instance remembers.
   */
  public void recordMisplaced() {
    jdbc.update(RECORD_MISPLACED);
  }

  /** Has Postgres asked again, because the transaction that records misplaced events committed. */
  public void misplacedRecorded() {
    if (!evidence.isConclusive()) {
      watched.forget();
    }
  }

  /**
   * Returns whether an order and its payment may be in partitions with different numbers, because
   * it is configured or because Postgres says so; asks Postgres if that has changed.
   */
  public synchronized boolean paymentsMayBeAnywhere() {
    watched.readIfChanged(
        () -> {
          learn(read());
          return true;
        });
    return always || evidence.isConclusive();
  }

  /**
   * Returns the shards whose orders may have been settled by records in the partition, as Postgres
   * says in the present transaction.
   */
  public Collection<Integer> shardsSettledIn(int partition) {
    return always || read().isConclusive()
        ? IntStream.range(0, greatest()).boxed().toList()
        : List.of(partition);
  }

  private Evidence read() {
    return Objects.requireNonNull(
        jdbc.queryForObject(
            FIND_EVIDENCE,
            (row, number) -> new Evidence(row.getBoolean("changed"), row.getBoolean("misplaced"))));
  }

  private void learn(Evidence now) {
    if (now.misplaced && !evidence.misplaced) {
      log.warn(
          "Events of settling topics came from another partition than their order. They were applied, and"
              + " from now on, orders are cancelled only once the payments of all partitions are"
              + " read, so one partition that cannot be read delays all of them. Configure all"
              + " producers of the input topics with the same partitioner");
    }
    evidence = now;
  }
}
