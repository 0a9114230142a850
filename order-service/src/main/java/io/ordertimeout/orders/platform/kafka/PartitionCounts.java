package io.ordertimeout.orders.platform.kafka;

import java.util.Set;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;

/** The numbers of partitions that the input topics have had, in Postgres. Thread-safe. */
@Repository
class PartitionCounts {

  private static final String NOTE =
      "insert into partition_count (partitions) values (?) on conflict do nothing";

  private static final String OTHERS =
      "select partitions from partition_count where partitions <> ?";

  private final JdbcTemplate jdbc;

  PartitionCounts(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  /** Notes the number that they have now; returns the others that they have had. */
  Set<Integer> note(int partitions) {
    jdbc.update(NOTE, partitions);
    return Set.copyOf(jdbc.queryForList(OTHERS, Integer.class, partitions));
  }
}
