package io.ordertimeout.it.watermark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Interceptors;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.TopicNames;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * A backlog of payments, payment attempts or changes that are in Kafka, but not read yet when their
 * orders are due.
 */
@Order(50)
class WatermarkIT {

  private static final int ORDERS = 300;
  private static final int OTHER_PAYMENTS = 6_000;
  private static final String[] SMALL_BATCHES = {"order-timeout.intake.batch-size", "100"};

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();
  private final TopicNames topics = scenario.topics();

  @Test
  void aBacklogCancelsNoPaidOrder() {
    Map<String, String> expected = publishPaymentsBehindManyOthers();

    try (Service service = scenario.startService(SMALL_BATCHES)) {
      assertDecided(expected);
      assertThat(service.counter("order.timeout.conflicts")).isZero();
    }
  }

  @Test
  void aRestartWithABacklogCancelsNoPaidOrder() {
    Map<String, String> expected = publishPaymentsBehindManyOthers();

    try (Service service = scenario.startService(List.of(stopReadingAfter(20)), SMALL_BATCHES)) {
      await("a part of the backlog").until(() -> database.states().size() > ORDERS);
      assertThat(service.counter("order.timeout.conflicts")).isZero();
    }
    assertThat(database.states()).hasSizeLessThan(ORDERS + OTHER_PAYMENTS);
    assertThat(scenario.outcomes().cancelled()).isEmpty();

    try (Service service = scenario.startService(SMALL_BATCHES)) {
      assertDecided(expected);
      assertThat(service.counter("order.timeout.conflicts")).isZero();
      assertThat(service.counter("order.timeout.repaired")).isZero();
    }
  }

  @Test
  void anUnreadPaymentAttemptDelaysTheDecisionOfItsOrder() {
    try (Scenario withAttempts = Scenario.withAllTopics()) {
      AtomicBoolean unread = new AtomicBoolean(true);
      String attempts = withAttempts.topics().attempts();
      Service service = withAttempts.startService(List.of(leaveUnread(attempts, unread)));
      service.awaitReady(true);
      for (String orderId : List.of("under way", "other")) {
        withAttempts.shop().attempt(orderId, Map.of("status", "STARTED"));
        withAttempts.shop().created(orderId, overdue());
      }
      withAttempts.shop().attempt("other", Map.of("status", "ENDED"));

      await("the watermark to wait for the attempts")
          .until(() -> service.gauge("order.timeout.watermark.lag") > 1);
      assertThat(withAttempts.database().states())
          .isEqualTo(Map.of("under way", "PENDING", "other", "PENDING"));

      unread.set(false);
      withAttempts.outcomes().awaitCancelled("other");
      withAttempts.awaitQuiet();
      assertThat(withAttempts.database().state("under way")).isEqualTo("PENDING");
      assertThat(service.gauge("order.timeout.overdue")).isZero();
    }
  }

  @Test
  void anUnreadChangePostponesTheDeadlineOfItsOrder() {
    try (Scenario withChanges = Scenario.withAllTopics()) {
      AtomicBoolean unread = new AtomicBoolean(true);
      Service service =
          withChanges.startService(List.of(leaveUnread(withChanges.topics().changed(), unread)));
      service.awaitReady(true);
      withChanges.shop().changed("postponed", Map.of("timeout", "PT1H"));
      withChanges.shop().changed("other", Map.of("channel", "web"));
      withChanges.shop().created("postponed", overdue());
      withChanges.shop().created("other", overdue());

      await("the watermark to wait for the changes")
          .until(() -> service.gauge("order.timeout.watermark.lag") > 1);
      assertThat(withChanges.database().states())
          .isEqualTo(Map.of("postponed", "PENDING", "other", "PENDING"));

      unread.set(false);
      withChanges.outcomes().awaitCancelled("other");
      withChanges.awaitQuiet();
      assertThat(withChanges.database().state("postponed")).isEqualTo("PENDING");
      await().until(() -> service.gauge("order.timeout.overdue") == 0);
    }
  }

  @Test
  void anUnreadPaymentDelaysTheWarningOfItsOrder() {
    try (Scenario withWarnings = Scenario.withAllTopics()) {
      AtomicBoolean unread = new AtomicBoolean(true);
      Service service =
          withWarnings.startService(
              List.of(leaveUnread(withWarnings.topics().paid(), unread)),
              "order-timeout.deadline.policies[0].name",
              "all",
              "order-timeout.deadline.policies[0].timeout",
              "1h",
              "order-timeout.deadline.policies[0].warnings[0]",
              "30m");
      service.awaitReady(true);
      Instant payBy = Scenario.in(Duration.ofMinutes(30).plusSeconds(2));
      for (String orderId : List.of("paid", "other")) {
        withWarnings.shop().created(orderId, Map.of("payBy", payBy.toString()));
        withWarnings.shop().paid(orderId.equals("paid") ? orderId : "another", "p");
      }

      await("the watermark to wait for the payments")
          .until(() -> service.gauge("order.timeout.watermark.lag") > 1);
      assertThat(withWarnings.outcomes().warnings("paid")).isEmpty();
      unread.set(false);
      withWarnings.outcomes().awaitWarnings("other", 1);
      withWarnings.awaitQuiet();
      assertThat(withWarnings.database().state("paid")).isEqualTo("PAID");
      assertThat(withWarnings.outcomes().warnings("paid")).isEmpty();
    }
  }

  /** Has consumers fetch nothing of a topic as long as the flag is set. */
  private static BeanPostProcessor leaveUnread(String topic, AtomicBoolean unread) {
    return Interceptors.consumers(
        call -> {
          if (call.getMethod().getName().equals("poll")
              && call.getThis() instanceof Consumer<?, ?> consumer) {
            Set<TopicPartition> partitions =
                consumer.assignment().stream()
                    .filter(partition -> partition.topic().equals(topic))
                    .collect(Collectors.toSet());
            if (unread.get()) {
              consumer.pause(partitions);
            } else {
              consumer.resume(partitions);
            }
          }
          return call.proceed();
        });
  }

  /** Has consumers fetch nothing any more after that many batches. */
  private static BeanPostProcessor stopReadingAfter(int batches) {
    AtomicInteger left = new AtomicInteger(batches);
    return Interceptors.consumers(
        call -> {
          if (!call.getMethod().getName().equals("poll")) {
            return call.proceed();
          }
          if (left.get() <= 0 && call.getThis() instanceof Consumer<?, ?> consumer) {
            consumer.pause(consumer.assignment());
          }
          Object polled = call.proceed();
          if (polled instanceof ConsumerRecords<?, ?> records && !records.isEmpty()) {
            left.decrementAndGet();
          }
          return polled;
        });
  }

  /** Publishes overdue orders, and their payments behind many payments of other orders. */
  private Map<String, String> publishPaymentsBehindManyOthers() {
    Map<String, String> creation = overdue();
    List<CompletableFuture<RecordMetadata>> sent = new ArrayList<>();
    for (int i = 0; i < ORDERS; i++) {
      sent.add(scenario.shop().send(topics.created(), "order-" + i, creation));
    }
    for (int i = 0; i < OTHER_PAYMENTS; i++) {
      sent.add(scenario.shop().send(topics.paid(), "other-" + i, Map.of("paymentId", "p")));
    }
    Map<String, String> expected = new HashMap<>();
    for (int i = 0; i < ORDERS; i++) {
      boolean paid = i % 10 != 0;
      expected.put("order-" + i, paid ? "PAID" : "CANCELLED");
      if (paid) {
        sent.add(scenario.shop().send(topics.paid(), "order-" + i, Map.of("paymentId", "p")));
      }
    }
    sent.forEach(Shop::await);
    return expected;
  }

  private static Map<String, String> overdue() {
    Instant createdAt = Instant.now().truncatedTo(ChronoUnit.MICROS).minusSeconds(60);
    return Map.of("createdAt", createdAt.toString(), "timeout", "PT30S");
  }

  private void assertDecided(Map<String, String> expected) {
    scenario.awaitAllDecided();
    assertThat(database.states()).containsAllEntriesOf(expected).hasSize(ORDERS + OTHER_PAYMENTS);
    assertThat(scenario.outcomes().cancelled())
        .extracting(PublishedEvent::key)
        .hasSize(ORDERS / 10)
        .doesNotHaveDuplicates()
        .allMatch(orderId -> "CANCELLED".equals(expected.get(orderId)));
    assertThat(scenario.outcomes().conflicts()).isEmpty();
  }
}
