package io.ordertimeout.orders.position;

import java.util.Collection;
import org.apache.kafka.common.TopicPartition;

/**
 * Postgres does not contain the positions that the writer knows: another instance has stored
 * records of the partitions, or Postgres has lost commits.
 */
public class PositionsChangedException extends RuntimeException {

  private static final long serialVersionUID = 1;

  /** Creates an exception for those of the partitions that were to be advanced. */
  public PositionsChangedException(Collection<TopicPartition> partitions) {
    super("Postgres does not contain the positions of " + partitions + " that this instance knows");
  }
}
