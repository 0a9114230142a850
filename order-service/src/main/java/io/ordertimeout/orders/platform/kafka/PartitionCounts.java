package io.ordertimeout.orders.platform.kafka;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;

/** The history of the input topics' partition counts, in Postgres. Thread-safe. */
@Repository
public class PartitionCounts {

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

  private final JdbcTemplate jdbc;

  PartitionCounts(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  /** Records the current partition count and returns all others that the topics have had. */
  Set<Integer> record(int partitions) {
    jdbc.update(INSERT, partitions);
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
}
