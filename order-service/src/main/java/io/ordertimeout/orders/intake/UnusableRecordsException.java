package io.ordertimeout.orders.intake;

import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/**
 * Records are unusable, or cannot be decoded at present. Nothing in the code is at fault, so it has
 * no trace.
 */
final class UnusableRecordsException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  UnusableRecordsException(Map<TopicPartition, String> problems) {
    super("not read on: " + problems, null, false, false);
  }
}
