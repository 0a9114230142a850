package io.ordertimeout.it.support;

import static org.awaitility.Awaitility.await;

import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Keeps the service from reading one of its topics, or one partition of it, while it reads
 * everything else.
 */
public final class UnreadRecords implements AutoCloseable {

  private final Predicate<TopicPartition> unread;
  private final AtomicInteger pollsWithoutTopic = new AtomicInteger();
  private volatile boolean blocked;

  public UnreadRecords(String topic) {
    this.unread = partition -> partition.topic().equals(topic);
  }

  public UnreadRecords(TopicPartition partition) {
    this.unread = partition::equals;
  }

  public BeanPostProcessor interceptor() {
    return Interceptors.consumers(
        call -> {
          if (call.getMethod().getName().equals("poll")) {
            beforePoll((Consumer<?, ?>) Objects.requireNonNull(call.getThis()));
          }
          return call.proceed();
        });
  }

  private void beforePoll(Consumer<?, ?> consumer) {
    Set<TopicPartition> partitions =
        consumer.assignment().stream().filter(unread).collect(Collectors.toSet());
    if (partitions.isEmpty()) {
      return; // another consumer, or one without an assignment
    }
    if (blocked) {
      consumer.pause(partitions);
      pollsWithoutTopic.incrementAndGet();
    } else if (pollsWithoutTopic.getAndSet(0) > 0) {
      consumer.resume(partitions);
    }
  }

  /** Returns once records that are published from now on stay unread. */
  public void block() {
    blocked = true;
    await("a poll without the topic").until(() -> pollsWithoutTopic.get() > 0);
  }

  public void unblock() {
    blocked = false;
  }

  @Override
  public void close() {
    unblock();
  }
}
