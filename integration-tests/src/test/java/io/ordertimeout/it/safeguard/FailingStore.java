package io.ordertimeout.it.safeguard;

import io.ordertimeout.it.support.Interceptors;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Makes a service that is stopped look like one that was killed between reading and storing: it can
 * read but not store, and the offsets that it commits while it shuts down do not reach Kafka.
 */
final class FailingStore {

  private final Map<TopicPartition, Long> read = new ConcurrentHashMap<>();
  private volatile boolean failing;

  /** The interceptors, to be installed around all others. */
  List<BeanPostProcessor> interceptors() {
    BeanPostProcessor statements =
        StatementInterceptor.install(
            new StatementInterceptor() {
              @Override
              public void before(String sql, Connection connection) throws SQLException {
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

  /** Makes the store and all offset commits fail from now on. */
  void fail() {
    failing = true;
  }

  /** Makes the store and offset commits work again. */
  void recover() {
    failing = false;
  }

  /** Returns whether everything below those offsets was read. */
  boolean hasRead(Map<TopicPartition, Long> ends) {
    return ends.entrySet().stream()
        .allMatch(end -> read.getOrDefault(end.getKey(), 0L) >= end.getValue());
  }
}
