package io.ordertimeout.it.safeguard;

import io.ordertimeout.it.support.Interceptors;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * The last moments of a process: it reads and can store nothing more, and what it would commit on
 * its orderly way out does not come to Kafka, as if it had been killed.
 */
final class FailingStore {

  private final Map<TopicPartition, Long> read = new ConcurrentHashMap<>();
  private volatile boolean failing;

  /** To be put around everything else. */
  List<BeanPostProcessor> seams() {
    BeanPostProcessor statements =
        Statements.seam(
            new Statements.Seam() {
              @Override
              public void before(String sql) throws SQLException {
                if (failing && sql.contains("insert into order_deadline")) {
                  throw new SQLException("the store fails", "57P01");
                }
              }
            });
    BeanPostProcessor consumers =
        Interceptors.consumers(
            call -> {
              if (failing && call.getMethod().getName().startsWith("commit")) {
                return null;
              }
              Object result = call.proceed();
              if (result instanceof ConsumerRecords<?, ?> records) {
                records
                    .nextOffsets()
                    .forEach((partition, next) -> read.put(partition, next.offset()));
              }
              return result;
            });
    return List.of(statements, consumers);
  }

  /** Stores nothing from now on. */
  void fail() {
    failing = true;
  }

  /** Whether everything below those offsets was read. */
  boolean hasRead(Map<TopicPartition, Long> ends) {
    return ends.entrySet().stream()
        .allMatch(end -> read.getOrDefault(end.getKey(), 0L) >= end.getValue());
  }
}
