package io.ordertimeout.it.safeguard;

import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Interceptors;
import io.ordertimeout.it.support.Scenario;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.springframework.beans.factory.config.BeanPostProcessor;

/** Keeps the service from reading payments, while it reads everything else. */
final class UnreadPayments implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final String topic;
  private final AtomicInteger pollsWithoutPayments = new AtomicInteger();
  private volatile boolean blocked;

  UnreadPayments(Scenario scenario) {
    this.topic = scenario.topics().paid();
  }

  BeanPostProcessor interceptor() {
    return Interceptors.consumers(
        call -> {
          if (call.getMethod().getName().equals("poll")) {
            beforePoll((Consumer<?, ?>) Objects.requireNonNull(call.getThis()));
          }
          return call.proceed();
        });
  }

  private void beforePoll(Consumer<?, ?> consumer) {
    Set<TopicPartition> payments =
        consumer.assignment().stream()
            .filter(partition -> partition.topic().equals(topic))
            .collect(Collectors.toSet());
    if (blocked) {
      consumer.pause(payments);
      pollsWithoutPayments.incrementAndGet();
    } else if (pollsWithoutPayments.getAndSet(0) > 0) {
      consumer.resume(payments);
    }
  }

  /** Returns once payments that are published from now on stay unread. */
  void block() {
    blocked = true;
    await("a poll without payments").atMost(PATIENCE).until(() -> pollsWithoutPayments.get() > 0);
  }

  void unblock() {
    blocked = false;
  }

  @Override
  public void close() {
    unblock();
  }
}
