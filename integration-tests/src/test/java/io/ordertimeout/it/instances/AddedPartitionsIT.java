package io.ordertimeout.it.instances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.KafkaAdmin;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.traffic.Deadlines;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.NewPartitions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Partitions added to topics in use. The payment of an existing order may then be in a partition
 * with another number than its order, which the service has not read yet.
 */
@Order(40)
class AddedPartitionsIT {

  private static final int MORE = Scenario.PARTITIONS + 2;
  private static final int ADDED = Scenario.PARTITIONS + 1;

  @AutoClose private final Scenario scenario = Scenario.create();

  @Test
  void aPaymentInAnAddedPartitionIsReadBeforeItsOrderIsDecided() {
    try (Service service = scenario.startService()) {
      createPending();
      addPartitions();
      scenario.pay("paid", ADDED);
      Deadlines.passNow(scenario.database(), "paid", "unpaid");

      assertOnlyUnpaidIsCancelled(service);
      // Orders in the added partition have timeouts like all others.
      scenario.create("new", ADDED, Scenario.in(Duration.ofSeconds(1)));
      scenario.outcomes().awaitCancelled("new");
    }
  }

  @Test
  @Tag("faults")
  void aPaymentInAPartitionAddedWhileDownIsReadBeforeItsOrderIsDecided() {
    try (Service service = scenario.startService()) {
      createPending();
      assertThat(service.gauge("order.timeout.pending")).isEqualTo(2);
    }
    addPartitions();
    scenario.pay("paid", ADDED);
    Deadlines.passNow(scenario.database(), "paid", "unpaid");

    try (Service service = scenario.startService()) {
      assertOnlyUnpaidIsCancelled(service);
    }
  }

  @Test
  @Tag("faults")
  void aPaymentInAnyPartitionHoldsItsOrderBackIfConfigured() {
    try (Service service = scenario.startService()) {
      createPending();
      assertThat(service.gauge("order.timeout.pending")).isEqualTo(2);
    }
    // The payment is in another partition than its order, behind many others.
    IntStream.range(0, 2_000)
        .mapToObj(
            i ->
                scenario
                    .shop()
                    .send(scenario.topics().paid(), "other-" + i, Map.of("paymentId", "p")))
        .toList()
        .forEach(Shop::await);
    scenario.pay("paid", 2);
    Deadlines.passNow(scenario.database(), "paid", "unpaid");

    try (Service service =
        scenario.startService(
            "order-timeout.expiry.watermark-scope",
            "all",
            "order-timeout.intake.batch-size",
            "50")) {
      assertOnlyUnpaidIsCancelled(service);
    }
  }

  @Test
  @Tag("faults")
  void nothingIsDecidedWhileTheTopicsDifferInTheirPartitions() {
    try (Service service = scenario.startService("order-timeout.reconciler.overdue-after", "1s")) {
      createPending();
      addPartitions(List.of(scenario.topics().paid()));
      Deadlines.passNow(scenario.database(), "unpaid");

      await("the order to be overdue").until(() -> service.gauge("order.timeout.overdue") == 1);
      assertThat(scenario.database().state("unpaid")).isEqualTo("PENDING");

      addPartitions(List.of(scenario.topics().created(), scenario.topics().closed()));
      scenario.outcomes().awaitCancelled("unpaid");
    }
  }

  private void createPending() {
    Instant deadline = Scenario.in(Duration.ofHours(1));
    scenario.create("paid", 0, deadline);
    scenario.create("unpaid", 0, deadline);
    scenario.awaitState("paid", "PENDING");
    scenario.awaitState("unpaid", "PENDING");
  }

  private void assertOnlyUnpaidIsCancelled(Service service) {
    scenario.outcomes().awaitCancelled("unpaid");
    assertThat(scenario.database().state("paid")).isEqualTo("PAID");
    assertThat(scenario.outcomes().cancelled()).hasSize(1);
    assertThat(service.counter("order.timeout.misplaced.events")).isEqualTo(1);
  }

  private void addPartitions() {
    addPartitions(scenario.topics().inputs());
  }

  private void addPartitions(Collection<String> topics) {
    KafkaAdmin.get(
        scenario
            .kafka()
            .client()
            .createPartitions(
                topics.stream()
                    .collect(
                        Collectors.toMap(Function.identity(), t -> NewPartitions.increaseTo(MORE))))
            .all());
    await("the partitions")
        .until(
            () ->
                topics.stream()
                    .allMatch(t -> scenario.partitionCounts().getOrDefault(t, 0) == MORE));
  }
}
