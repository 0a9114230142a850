package io.ordertimeout.it.instances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.NewPartitions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Partitions added to topics in use: the payment of an order from before may be in a partition of
 * another number than the order, where nobody may have looked yet.
 */
class AddedPartitionsIT {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int MORE = Scenario.PARTITIONS + 2;
  private static final int ADDED = Scenario.PARTITIONS + 1;

  private final Scenario scenario = Scenario.create();

  @AfterEach
  void close() {
    scenario.close();
  }

  @Test
  void aPaymentInAnAddedPartitionIsReadBeforeItsOrderIsDecided() {
    try (Service service = scenario.startService()) {
      Instant deadline = Scenario.in(Duration.ofSeconds(8));
      scenario.create("paid", 0, deadline);
      scenario.create("unpaid", 0, deadline);
      scenario.awaitState("paid", "PENDING");
      addPartitions();
      scenario.pay("paid", ADDED);

      scenario.outcomes().awaitCancelled("unpaid");
      assertThat(scenario.database().state("paid")).isEqualTo("PAID");
      assertThat(scenario.outcomes().cancelled("paid")).isEmpty();
      assertThat(service.counter("order.timeout.misplaced.events")).isEqualTo(1);
      // And what comes in by the added partition is watched like everything else.
      scenario.create("new", ADDED, Scenario.in(Duration.ofSeconds(1)));
      scenario.outcomes().awaitCancelled("new");
    }
  }

  @Test
  void whatWasPaidInAnAddedPartitionWhileNobodyWatchedIsNotSkipped() {
    try (Service service = scenario.startService()) {
      Instant deadline = Scenario.in(Duration.ofSeconds(8));
      scenario.create("paid", 0, deadline);
      scenario.create("unpaid", 0, deadline);
      scenario.awaitState("unpaid", "PENDING");
      assertThat(service.gauge("order.timeout.pending")).isEqualTo(2);
    }
    addPartitions();
    scenario.pay("paid", ADDED);

    // An added partition is no first start: it is read from its beginning.
    try (Service service = scenario.startService("order-timeout.intake.start-back", "0s")) {
      scenario.outcomes().awaitCancelled("unpaid");
      assertThat(scenario.database().state("paid")).isEqualTo("PAID");
      assertThat(service.counter("order.timeout.misplaced.events")).isEqualTo(1);
    }
  }

  @Test
  void aPaymentInAnyPartitionHoldsItsOrderBackIfConfiguredSo() {
    Instant deadline;
    try (Service service = scenario.startService()) {
      deadline = Scenario.in(Duration.ofSeconds(8));
      scenario.create("paid", 0, deadline);
      scenario.create("unpaid", 0, deadline);
      scenario.awaitState("unpaid", "PENDING");
      assertThat(service.gauge("order.timeout.pending")).isEqualTo(2);
    }
    // Its producer partitions by another function. Much else is to be read before it.
    IntStream.range(0, 2_000)
        .mapToObj(
            i ->
                scenario
                    .shop()
                    .send(scenario.topics().paid(), "other-" + i, Map.of("paymentId", "p")))
        .toList()
        .forEach(Shop::await);
    scenario.pay("paid", 2);
    scenario.awaitPast(deadline);

    try (Service service =
        scenario.startService(
            "order-timeout.expiry.watermark-scope",
            "all",
            "order-timeout.intake.batch-size",
            "50")) {
      scenario.outcomes().awaitCancelled("unpaid");
      assertThat(scenario.database().state("paid")).isEqualTo("PAID");
      assertThat(scenario.outcomes().cancelled()).hasSize(1);
      assertThat(service.counter("order.timeout.misplaced.events")).isEqualTo(1);
    }
  }

  @Test
  void nothingIsDecidedWhileTheTopicsDiffer() {
    try (Service service = scenario.startService("order-timeout.reconciler.overdue-after", "1s")) {
      scenario.create("unpaid", 0, Scenario.in(Duration.ofSeconds(8)));
      scenario.awaitState("unpaid", "PENDING");
      addPartitions(List.of(scenario.topics().paid()));

      await("the order to be overdue")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.overdue") == 1);
      assertThat(scenario.database().state("unpaid")).isEqualTo("PENDING");

      addPartitions(List.of(scenario.topics().created(), scenario.topics().closed()));
      scenario.outcomes().awaitCancelled("unpaid");
    }
  }

  private void addPartitions() {
    addPartitions(scenario.topics().inputs());
  }

  private void addPartitions(Collection<String> topics) {
    Scenario.get(
        scenario
            .admin()
            .createPartitions(
                topics.stream()
                    .collect(
                        Collectors.toMap(Function.identity(), t -> NewPartitions.increaseTo(MORE))))
            .all());
    await("the partitions")
        .atMost(PATIENCE)
        .until(
            () ->
                topics.stream()
                    .allMatch(t -> scenario.partitionCounts().getOrDefault(t, 0) == MORE));
  }
}
