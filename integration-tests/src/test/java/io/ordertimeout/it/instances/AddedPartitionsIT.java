package io.ordertimeout.it.instances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.rig.Service;
import io.ordertimeout.it.rig.Shop;
import io.ordertimeout.it.rig.Stage;
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
  private static final int MORE = Stage.PARTITIONS + 2;
  private static final int ADDED = Stage.PARTITIONS + 1;

  private final Stage stage = Stage.create();

  @AfterEach
  void close() {
    stage.close();
  }

  @Test
  void aPaymentInAnAddedPartitionIsReadBeforeItsOrderIsDecided() {
    try (Service service = stage.startService()) {
      Instant deadline = Stage.in(Duration.ofSeconds(8));
      stage.create("paid", 0, deadline);
      stage.create("unpaid", 0, deadline);
      stage.awaitState("paid", "PENDING");
      addPartitions();
      stage.pay("paid", ADDED);

      stage.outcomes().awaitCancelled("unpaid");
      assertThat(stage.database().state("paid")).isEqualTo("PAID");
      assertThat(stage.outcomes().cancelled("paid")).isEmpty();
      assertThat(service.counter("order.timeout.misplaced.events")).isEqualTo(1);
      // And what comes in by the added partition is watched like everything else.
      stage.create("new", ADDED, Stage.in(Duration.ofSeconds(1)));
      stage.outcomes().awaitCancelled("new");
    }
  }

  @Test
  void whatWasPaidInAnAddedPartitionWhileNobodyWatchedIsNotSkipped() {
    try (Service service = stage.startService()) {
      Instant deadline = Stage.in(Duration.ofSeconds(8));
      stage.create("paid", 0, deadline);
      stage.create("unpaid", 0, deadline);
      stage.awaitState("unpaid", "PENDING");
      assertThat(service.gauge("order.timeout.pending")).isEqualTo(2);
    }
    addPartitions();
    stage.pay("paid", ADDED);

    // An added partition is no first start: it is read from its beginning.
    try (Service service = stage.startService("order-timeout.intake.start-back", "0s")) {
      stage.outcomes().awaitCancelled("unpaid");
      assertThat(stage.database().state("paid")).isEqualTo("PAID");
      assertThat(service.counter("order.timeout.misplaced.events")).isEqualTo(1);
    }
  }

  @Test
  void aPaymentInAnyPartitionHoldsItsOrderBackIfConfiguredSo() {
    Instant deadline;
    try (Service service = stage.startService()) {
      deadline = Stage.in(Duration.ofSeconds(8));
      stage.create("paid", 0, deadline);
      stage.create("unpaid", 0, deadline);
      stage.awaitState("unpaid", "PENDING");
      assertThat(service.gauge("order.timeout.pending")).isEqualTo(2);
    }
    // Its producer partitions by another function. Much else is to be read before it.
    IntStream.range(0, 2_000)
        .mapToObj(
            i -> stage.shop().send(stage.topics().paid(), "other-" + i, Map.of("paymentId", "p")))
        .toList()
        .forEach(Shop::await);
    stage.pay("paid", 2);
    stage.awaitPast(deadline);

    try (Service service =
        stage.startService(
            "order-timeout.expiry.watermark-scope",
            "all",
            "order-timeout.intake.batch-size",
            "50")) {
      stage.outcomes().awaitCancelled("unpaid");
      assertThat(stage.database().state("paid")).isEqualTo("PAID");
      assertThat(stage.outcomes().cancelled()).hasSize(1);
      assertThat(service.counter("order.timeout.misplaced.events")).isEqualTo(1);
    }
  }

  @Test
  void nothingIsDecidedWhileTheTopicsDiffer() {
    try (Service service = stage.startService("order-timeout.backstop.overdue-after", "1s")) {
      stage.create("unpaid", 0, Stage.in(Duration.ofSeconds(8)));
      stage.awaitState("unpaid", "PENDING");
      addPartitions(List.of(stage.topics().paid()));

      await("the order to be overdue")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.overdue") == 1);
      assertThat(stage.database().state("unpaid")).isEqualTo("PENDING");

      addPartitions(List.of(stage.topics().created(), stage.topics().closed()));
      stage.outcomes().awaitCancelled("unpaid");
    }
  }

  private void addPartitions() {
    addPartitions(stage.topics().inputs());
  }

  private void addPartitions(Collection<String> topics) {
    Stage.get(
        stage
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
                topics.stream().allMatch(t -> stage.partitionCounts().getOrDefault(t, 0) == MORE));
  }
}
