package io.ordertimeout.it.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Shop;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * A few orders of each kind with their expected outcome: never paid, paid in time, paid late,
 * closed; and unusable records between them. One thread uses it at a time.
 */
final class SampleOrders {

  private static final int ORDERS_PER_KIND = 6;
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final String TRACE = "trace";

  private final Scenario scenario;
  private final Instant createdAt;
  private final Instant deadline;
  private final List<String> unpaid = ids("unpaid-");
  private final List<String> paid = ids("paid-");
  private final List<String> late = ids("late-");
  private final List<String> closed = ids("closed-");
  private final List<String> garbage = ids("garbage-");
  private final Set<String> paidLate = new HashSet<>();

  private SampleOrders(Scenario scenario) {
    this.scenario = scenario;
    this.createdAt = Instant.now().truncatedTo(ChronoUnit.MICROS);
    this.deadline = createdAt.plus(TIMEOUT);
  }

  private static List<String> ids(String prefix) {
    return IntStream.range(0, ORDERS_PER_KIND).mapToObj(i -> prefix + i).toList();
  }

  /** Publishes everything except the late payments; returns when Kafka has acknowledged it. */
  static SampleOrders publish(Scenario scenario) {
    SampleOrders orders = new SampleOrders(scenario);
    orders.publish();
    return orders;
  }

  private void publish() {
    List<CompletableFuture<RecordMetadata>> sent = new ArrayList<>();
    List<CompletableFuture<RecordMetadata>> payments = new ArrayList<>();
    Map<String, ?> fields =
        Map.of("createdAt", createdAt.toString(), "timeout", TIMEOUT.toString());
    for (int i = 0; i < ORDERS_PER_KIND; i++) {
      for (List<String> kind : List.of(unpaid, paid, late, closed)) {
        sent.add(scenario.shop().send(scenario.topics().created(), kind.get(i), fields));
      }
      sent.add(scenario.shop().send(scenario.topics().closed(), closed.get(i), Map.of()));
      payments.add(
          scenario
              .shop()
              .send(scenario.topics().paid(), paid.get(i), Map.of("paymentId", "in time")));
      ProducerRecord<byte[], byte[]> record =
          new ProducerRecord<>(
              scenario.topics().inputs().get(i % 3), Shop.utf8("key"), Shop.utf8("garbage"));
      record.headers().add(TRACE, Shop.utf8(garbage.get(i)));
      sent.add(scenario.shop().send(record));
    }
    sent.forEach(Shop::await);
    for (CompletableFuture<RecordMetadata> payment : payments) {
      assertThat(Instant.ofEpochMilli(Shop.await(payment).timestamp()))
          .as("a payment in time")
          .isBefore(deadline);
    }
  }

  /** Pays the late orders that have been cancelled by now. */
  void payLate() {
    for (String orderId : late) {
      if (!paidLate.contains(orderId) && !scenario.outcomes().cancelled(orderId).isEmpty()) {
        scenario.shop().paid(orderId, "late");
        paidLate.add(orderId);
      }
    }
  }

  /** Waits until every order is decided and every late payment is processed. */
  void awaitOutcome() {
    await("late payments")
        .until(
            () -> {
              payLate();
              return paidLate.size() == late.size();
            });
    scenario.awaitAllDecided();
  }

  /** Checks that nothing is lost, early, decided twice or decided against a payment. */
  void assertOutcome() {
    Map<String, String> states = new HashMap<>();
    unpaid.forEach(orderId -> states.put(orderId, "CANCELLED"));
    late.forEach(orderId -> states.put(orderId, "CANCELLED"));
    paid.forEach(orderId -> states.put(orderId, "PAID"));
    closed.forEach(orderId -> states.put(orderId, "CLOSED"));
    assertThat(scenario.database().states()).isEqualTo(states);

    Map<String, Set<String>> cancellations = eventIds(scenario.outcomes().cancelled());
    assertThat(cancellations).containsOnlyKeys(union(unpaid, late));
    assertThat(cancellations.values()).allSatisfy(ids -> assertThat(ids).hasSize(1));
    Map<String, Set<String>> conflicts = eventIds(scenario.outcomes().conflicts());
    assertThat(conflicts).containsOnlyKeys(late);
    assertThat(conflicts.values()).allSatisfy(ids -> assertThat(ids).hasSize(1));
    assertThat(scenario.outcomes().cancelled())
        .allSatisfy(
            event -> {
              assertThat(event.instant("deadline")).isEqualTo(deadline);
              assertThat(event.instant("cancelledAt")).isAfterOrEqualTo(deadline);
              assertThat(event.appendedAt()).isAfterOrEqualTo(deadline.minusMillis(1));
            });
    assertThat(scenario.outcomes().deadLetters())
        .extracting(letter -> letter.header(TRACE))
        .containsAll(garbage)
        .allMatch(garbage::contains);
  }

  private static Set<String> union(List<String> one, List<String> other) {
    Set<String> all = new HashSet<>(one);
    all.addAll(other);
    return all;
  }

  private static Map<String, Set<String>> eventIds(List<PublishedEvent> events) {
    return events.stream()
        .collect(
            Collectors.groupingBy(
                PublishedEvent::key,
                Collectors.mapping(event -> event.text("eventId"), Collectors.toSet())));
  }
}
