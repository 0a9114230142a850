package io.ordertimeout.orders.platform.kafka;

import java.util.Set;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;

/** The history of the input topics' partition counts, in Postgres. Thread-safe. */
@Repository
class PartitionCounts {

  private static final String INSERT =
      "insert into partition_count (partitions) values (?) on conflict do nothing";

  private static final String FIND_OTHERS =
      "select partitions from partition_count where partitions <> ?";

  private final JdbcTemplate jdbc;

  PartitionCounts(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  /** Records the current partition count and returns all others that the topics have had. */
  Set<Integer> record(int partitions) {
    jdbc.update(INSERT, partitions);
    return Set.copyOf(jdbc.queryForList(FIND_OTHERS, Integer.class, partitions));
  }
}
