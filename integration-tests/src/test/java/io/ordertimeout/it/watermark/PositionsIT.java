package io.ordertimeout.it.watermark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Interceptors;
import io.ordertimeout.it.support.KafkaAdmin;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.SuspensionRows;
import io.ordertimeout.it.support.TopicNames;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.clients.consumer.RetriableCommitFailedException;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;

/** The service reads on from the positions in Postgres, whatever happens to offsets and logs. */
@Order(10)
class PositionsIT {

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();
  private final TopicNames topics = scenario.topics();

  @Test
  void offsetsMovedForwardSkipNothing() {
    registerAndStop("paid", "unpaid");
    scenario.pay("paid", 0);
    database.makePendingDue();
    moveOffsets(scenario.kafka().ends(scenario.allPartitions()));

    try (Service service = scenario.startService()) {
      scenario.awaitState("paid", "PAID");
      scenario.outcomes().awaitCancelled("unpaid");
      assertThat(service.gauge("order.timeout.expiry.held")).isZero();
    }
    assertThat(scenario.outcomes().cancelled("paid")).isEmpty();
  }

  @Test
  void offsetsMovedBackChangeNothing() {
    registerAndStop("paid", "unpaid");
    scenario.pay("paid", 0);
    database.makePendingDue();
    try (Service service = scenario.startService()) {
      scenario.awaitAllDecided();
      scenario.shop().paid("unpaid", "late");
      scenario.outcomes().awaitConflicts("unpaid", 1);
      scenario.awaitQuiet();
      assertThat(service.counter("order.timeout.conflicts")).isEqualTo(1);
    }
    moveOffsets(
        scenario.allPartitions().stream().collect(Collectors.toMap(Function.identity(), p -> 0L)));

    try (Service service = scenario.startService()) {
      await("the payments again")
          .until(() -> service.counter("order.timeout.events", "event", "paid") >= 2);
      scenario.awaitQuiet();
      assertThat(service.counter("order.timeout.events", "outcome", "duplicate"))
          .isGreaterThanOrEqualTo(2);
    }
    assertThat(database.state("paid")).isEqualTo("PAID");
    assertThat(database.state("unpaid")).isEqualTo("CANCELLED");
    assertThat(scenario.outcomes().cancelled()).hasSize(1);
    assertThat(scenario.outcomes().conflicts()).hasSize(1);
  }

  @Test
  void expiredOffsetsSkipNothing() {
    registerAndStop("paid", "unpaid");
    scenario.pay("paid", 0);
    database.makePendingDue();
    KafkaAdmin.get(scenario.kafka().client().deleteConsumerGroups(List.of(scenario.name())).all());

    try (Service service = scenario.startService()) {
      scenario.outcomes().awaitCancelled("unpaid");
      assertThat(database.state("paid")).isEqualTo("PAID");
      assertThat(service.counter("order.timeout.cancelled")).isEqualTo(1);
    }
  }

  @Test
  @Tag("faults")
  void aFailedCommitIsRepeatedWithoutFurtherRecords() {
    AtomicInteger refusals = new AtomicInteger();
    AtomicBoolean refusing = new AtomicBoolean();
    BeanPostProcessor refusal =
        Interceptors.consumers(
            call -> {
              if (!refusing.get() || !call.getMethod().getName().equals("commitAsync")) {
                return call.proceed();
              }
              OffsetCommitCallback callback = (OffsetCommitCallback) call.getArguments()[1];
              callback.onComplete(Map.of(), new RetriableCommitFailedException("not now"));
              refusing.set(refusals.incrementAndGet() < 3);
              return null;
            });
    try (Service service = scenario.startService(List.of(refusal))) {
      scenario.create("first", 0, Scenario.in(Duration.ofHours(1)));
      scenario.awaitQuiet();
      refusing.set(true);
      scenario.create("last", 0, Scenario.in(Duration.ofHours(1)));

      scenario.awaitQuiet();
      assertThat(refusals).hasValue(3);
      await("the step to work again").until(() -> service.gauge("order.timeout.failing") == 0);
    }
  }

  @Test
  void paymentsDeletedUnreadHoldTheirShardUntilAnOperatorLiftsTheHold() {
    registerAndStop("paid", "unpaid");
    scenario.create("elsewhere", 1, Scenario.in(Duration.ZERO));
    scenario.pay("paid", 0);
    deletePayments(0);
    database.makePendingDue();

    try (Service service = scenario.startService()) {
      scenario.outcomes().awaitCancelled("elsewhere");
      service.awaitHeldShards(1);
      assertThat(database.state("paid")).isEqualTo("PENDING");
      assertThat(database.state("unpaid")).isEqualTo("PENDING");
    }
    // The hold outlives the instance.
    try (Service service = scenario.startService()) {
      service.awaitHeldShards(1);
      scenario.passDeadline("still-elsewhere", 1);
      assertThat(scenario.outcomes().cancelled()).hasSize(2);
      // New payments of the shard are still read.
      scenario.pay("paid", 0);
      scenario.awaitState("paid", "PAID");

      assertThat(SuspensionRows.liftHolds(database)).isEqualTo(1);

      scenario.outcomes().awaitCancelled("unpaid");
      assertThat(service.gauge("order.timeout.expiry.held")).isZero();
    }
  }

  @Test
  void paymentsDeletedUnreadHoldEveryShardIfTheWatermarkCoversAllPartitions() {
    assertLostPaymentsHoldEveryShard("order-timeout.expiry.watermark-scope", "all");
  }

  @Test
  void paymentsDeletedUnreadHoldEveryShardIfPartitionsWereAdded() {
    database.execute("insert into partition_count (partitions) values (2)");
    assertLostPaymentsHoldEveryShard();
  }

  @Test
  void paymentsDeletedUnreadHoldEveryShardIfAPaymentWasMisplaced() {
    database.execute(
        "insert into partition_count (partitions, misplaced) values (?, true)",
        Scenario.PARTITIONS);
    assertLostPaymentsHoldEveryShard();
  }

  private void assertLostPaymentsHoldEveryShard(String... settings) {
    registerAndStop("paid", "unpaid");
    scenario.pay("paid", 2);
    deletePayments(2);
    database.makePendingDue();

    try (Service service = scenario.startService(settings)) {
      await("the alarm").until(() -> service.gauge("order.timeout.expiry.held") > 0);

      assertThat(database.count("select count(distinct shard) from suspension"))
          .isEqualTo(Scenario.PARTITIONS);
      assertThat(database.pending()).isEqualTo(2);
      assertThat(scenario.outcomes().cancelled()).isEmpty();
    }
  }

  @Test
  void aPositionBelowTheStartOfTheLogHoldsItsShardAlone() {
    try (Service service = scenario.startService("order-timeout.intake.batch-size", "1")) {
      scenario.createPending("held", 0);
      // Nothing can be stored from here on, so the positions do not advance.
      database.execute("alter table order_deadline rename to order_deadline_away");
      scenario.pay("other", 0);
      scenario.pay("held", 0);
      deletePayments(0);
      database.execute("alter table order_deadline_away rename to order_deadline");

      await("the alarm")
          .until(
              () ->
                  service.gauge("order.timeout.expiry.held") == 1
                      || "PAID".equals(database.state("held")));
      if ("PENDING".equals(database.state("held"))) {
        service.makeDue("held");
      }
      scenario.passDeadline("elsewhere", 1);
      // A payment that was fetched before its deletion may have been stored after all.
      assertThat(database.state("held")).isIn("PENDING", "PAID");
      assertThat(scenario.outcomes().cancelled("held")).isEmpty();
    }
  }

  /** Kafka has lost the end of the log, for example by an unclean election of a leader. */
  @Test
  void aPositionBeyondTheEndOfTheLogHoldsItsShardAlone() {
    registerAndStop("unpaid", "paid");
    scenario.pay("paid", 0);
    database.execute(
        "update intake_position set next_offset = 1000 where topic = ? and partition = 0",
        topics.paid());
    database.makePendingDue();

    try (Service service = scenario.startService()) {
      service.awaitHeldShards(1);
      // What is left of the log is read.
      scenario.awaitState("paid", "PAID");
      scenario.passDeadline("elsewhere", 1);
      assertThat(database.state("unpaid")).isEqualTo("PENDING");
      assertThat(scenario.outcomes().cancelled("unpaid")).isEmpty();
    }
  }

  @Test
  void aRecreatedTopicHoldsTheShardsWhoseRecordsItHeld() {
    registerAndStop("paid", "unpaid");
    scenario.pay("paid", 0);
    recreate(topics.paid());
    database.makePendingDue();

    try (Service service = scenario.startService()) {
      service.awaitHeldShards(Scenario.PARTITIONS);
      scenario.pay("unpaid", 0);
      scenario.awaitState("unpaid", "PAID");
      assertThat(SuspensionRows.liftHolds(database)).isEqualTo(Scenario.PARTITIONS);
      PublishedEvent wrong = scenario.outcomes().awaitCancelled("paid");
      // Lifting the hold is an operator's decision, because Kafka has lost this payment.
      assertThat(wrong.key()).isEqualTo("paid");
    }
  }

  @Test
  void aTopicRecreatedAtRunTimeIsDetectedBeforeTheNextCancellation() {
    try (Service service = scenario.startService()) {
      scenario.passDeadline("before", 0);
      scenario.createPending("held", 0);
      recreate(topics.paid());
      service.makeDue("held");

      service.awaitHeldShards(Scenario.PARTITIONS);
      assertThat(scenario.outcomes().cancelled("held")).isEmpty();
      assertThat(SuspensionRows.liftHolds(database)).isEqualTo(Scenario.PARTITIONS);
      scenario.outcomes().awaitCancelled("held");
    }
  }

  /** Registers orders in partition 0 and stops the service. */
  private void registerAndStop(String... orderIds) {
    try (Service service = scenario.startService()) {
      for (String orderId : orderIds) {
        scenario.createPending(orderId, 0);
      }
      scenario.awaitQuiet();
      assertThat(service.gauge("order.timeout.pending")).isEqualTo(orderIds.length);
    }
  }

  private void moveOffsets(Map<TopicPartition, Long> offsets) {
    await("the group to be empty")
        .ignoreExceptions()
        .until(
            () -> {
              KafkaAdmin.get(
                  scenario
                      .kafka()
                      .client()
                      .alterConsumerGroupOffsets(
                          scenario.name(),
                          offsets.entrySet().stream()
                              .filter(offset -> topics.inputs().contains(offset.getKey().topic()))
                              .collect(
                                  Collectors.toMap(
                                      Map.Entry::getKey,
                                      offset -> new OffsetAndMetadata(offset.getValue()))))
                      .all());
              return true;
            });
  }

  private void deletePayments(int partition) {
    scenario.kafka().deleteRecords(List.of(new TopicPartition(topics.paid(), partition)));
  }

  private void recreate(String topic) {
    scenario.kafka().deleteTopic(topic);
    scenario.kafka().createTopics(List.of(new NewTopic(topic, Scenario.PARTITIONS, (short) 1)));
  }
}
