package io.ordertimeout.it.watermark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.rig.Database;
import io.ordertimeout.it.rig.PublishedEvent;
import io.ordertimeout.it.rig.Seams;
import io.ordertimeout.it.rig.Service;
import io.ordertimeout.it.rig.Stage;
import io.ordertimeout.it.rig.TopicNames;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.clients.consumer.RetriableCommitFailedException;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;

/** Reading goes on where Postgres says that it ended, whatever becomes of offsets and logs. */
class PositionsIT {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Stage stage = Stage.create();
  private final Database database = stage.database();
  private final TopicNames topics = stage.topics();

  @AfterEach
  void close() {
    stage.close();
  }

  @Test
  void offsetsThatAnOperatorMovesForwardSkipNothing() {
    Instant deadline = registerAndStop("paid", "unpaid");
    stage.pay("paid", 0);
    moveOffsets(stage.ends(stage.allPartitions()));

    try (Service service = stage.startService()) {
      stage.awaitState("paid", "PAID");
      stage.awaitPast(deadline);
      stage.outcomes().awaitCancelled("unpaid");
      assertThat(service.gauge("order.timeout.expiry.held")).isZero();
    }
    assertThat(stage.outcomes().cancelled("paid")).isEmpty();
  }

  @Test
  void offsetsThatAnOperatorMovesBackChangeNothing() {
    registerAndStop("paid", "unpaid");
    stage.pay("paid", 0);
    try (Service service = stage.startService()) {
      stage.awaitAllDecided();
      stage.shop().paid("unpaid", "late");
      stage.outcomes().awaitConflicts("unpaid", 1);
      stage.awaitQuiet();
      assertThat(service.counter("order.timeout.conflicts")).isEqualTo(1);
    }
    moveOffsets(
        stage.allPartitions().stream().collect(Collectors.toMap(Function.identity(), p -> 0L)));

    try (Service service = stage.startService()) {
      await("the payments again")
          .atMost(PATIENCE)
          .until(() -> service.counter("order.timeout.events", "event", "paid") >= 2);
      stage.awaitQuiet();
      assertThat(service.counter("order.timeout.events", "outcome", "duplicate"))
          .isGreaterThanOrEqualTo(2);
    }
    assertThat(database.state("paid")).isEqualTo("PAID");
    assertThat(database.state("unpaid")).isEqualTo("CANCELLED");
    assertThat(stage.outcomes().cancelled()).hasSize(1);
    assertThat(stage.outcomes().conflicts()).hasSize(1);
  }

  @Test
  void offsetsThatHaveExpiredSkipNothing() {
    registerAndStop("paid", "unpaid");
    stage.pay("paid", 0);
    Stage.get(stage.admin().deleteConsumerGroups(List.of(stage.name())).all());

    // Kafka would be asked for the time of the start.
    try (Service service = stage.startService("order-timeout.intake.start-back", "0s")) {
      stage.outcomes().awaitCancelled("unpaid");
      assertThat(database.state("paid")).isEqualTo("PAID");
      assertThat(service.counter("order.timeout.cancelled")).isEqualTo(1);
    }
  }

  @Test
  void aCommitThatFailsIsMadeUpForWhenNothingElseComes() {
    AtomicInteger refusals = new AtomicInteger();
    AtomicBoolean refusing = new AtomicBoolean();
    BeanPostProcessor seam =
        Seams.consumers(
            call -> {
              if (!refusing.get() || !call.getMethod().getName().equals("commitAsync")) {
                return call.proceed();
              }
              OffsetCommitCallback callback = (OffsetCommitCallback) call.getArguments()[1];
              callback.onComplete(Map.of(), new RetriableCommitFailedException("not now"));
              refusing.set(refusals.incrementAndGet() < 3);
              return null;
            });
    try (Service service = stage.startService(List.of(seam))) {
      stage.create("first", 0, Stage.in(Duration.ofHours(1)));
      stage.awaitQuiet();
      refusing.set(true);
      stage.create("last", 0, Stage.in(Duration.ofHours(1)));

      stage.awaitQuiet();
      assertThat(refusals).hasValue(3);
      await("the step to work again")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.failing") == 0);
    }
  }

  @Test
  void paymentsDeletedBeforeTheyWereReadHoldTheirShardUntilAnOperatorGoesOn() {
    Instant deadline = registerAndStop("paid", "unpaid");
    stage.create("elsewhere", 1, deadline);
    stage.pay("paid", 0);
    deleteRecords(new TopicPartition(topics.paid(), 0));

    try (Service service = stage.startService()) {
      stage.outcomes().awaitCancelled("elsewhere");
      await("the alarm")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.expiry.held") == 1);
      assertThat(database.state("paid")).isEqualTo("PENDING");
      assertThat(database.state("unpaid")).isEqualTo("PENDING");
    }
    // It stays so, whoever takes the shard over.
    try (Service service = stage.startService()) {
      await("the alarm")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.expiry.held") == 1);
      passADeadline(1, "still-elsewhere");
      assertThat(stage.outcomes().cancelled()).hasSize(2);
      // New payments of the shard are read all the same.
      stage.pay("paid", 0);
      stage.awaitState("paid", "PAID");

      assertThat(liftHolds()).isEqualTo(1);

      stage.outcomes().awaitCancelled("unpaid");
      assertThat(service.gauge("order.timeout.expiry.held")).isZero();
    }
  }

  @Test
  void aPositionThatFallsOffTheLogHoldsItsShardAndNoOther() {
    try (Service service = stage.startService("order-timeout.intake.batch-size", "1")) {
      Instant deadline = Stage.in(Duration.ofSeconds(6));
      stage.create("held", 0, deadline);
      stage.awaitState("held", "PENDING");
      // Nothing is stored any more, so the positions stand still.
      database.execute("alter table order_deadline rename to order_deadline_away");
      stage.pay("other", 0);
      stage.pay("held", 0);
      deleteRecords(new TopicPartition(topics.paid(), 0));
      database.execute("alter table order_deadline_away rename to order_deadline");

      await("the alarm")
          .atMost(PATIENCE)
          .until(
              () ->
                  service.gauge("order.timeout.expiry.held") == 1
                      || "PAID".equals(database.state("held")));
      stage.awaitPast(deadline);
      passADeadline(1, "elsewhere");
      // What was fetched before it was deleted may have been stored after all.
      assertThat(database.state("held")).isIn("PENDING", "PAID");
      assertThat(stage.outcomes().cancelled("held")).isEmpty();
    }
  }

  @Test
  void aTopicMadeAnewHoldsTheShardsItHadRecordsOf() {
    registerAndStop("paid", "unpaid");
    stage.pay("paid", 0);
    makeAnew(topics.paid());

    try (Service service = stage.startService()) {
      await("the alarm")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.expiry.held") == Stage.PARTITIONS);
      stage.pay("unpaid", 0);
      stage.awaitState("unpaid", "PAID");
      assertThat(liftHolds()).isEqualTo(Stage.PARTITIONS);
      PublishedEvent wrong = stage.outcomes().awaitCancelled("paid");
      // Which is why somebody has to decide it: Kafka does not know of this payment any more.
      assertThat(wrong.key()).isEqualTo("paid");
    }
  }

  @Test
  void aTopicMadeAnewUnderARunningServiceIsNoticedBeforeTheNextCancellation() {
    try (Service service = stage.startService()) {
      passADeadline(0, "before");
      stage.create("held", 0, Stage.in(Duration.ofSeconds(3)));
      stage.awaitState("held", "PENDING");
      makeAnew(topics.paid());

      await("the alarm")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.expiry.held") == Stage.PARTITIONS);
      assertThat(stage.outcomes().cancelled("held")).isEmpty();
      assertThat(liftHolds()).isEqualTo(Stage.PARTITIONS);
      stage.outcomes().awaitCancelled("held");
    }
  }

  /** Registers orders in partition 0, due soon after, and stops the service before they are due. */
  private Instant registerAndStop(String... orderIds) {
    try (Service service = stage.startService()) {
      Instant deadline = Stage.in(Duration.ofSeconds(5));
      for (String orderId : orderIds) {
        stage.create(orderId, 0, deadline);
        stage.awaitState(orderId, "PENDING");
      }
      stage.awaitQuiet();
      assertThat(service.gauge("order.timeout.pending")).isEqualTo(orderIds.length);
      return deadline;
    }
  }

  private void passADeadline(int partition, String orderId) {
    stage.create(orderId, partition, Stage.in(Duration.ofMillis(500)));
    stage.outcomes().awaitCancelled(orderId);
  }

  private int liftHolds() {
    return database.execute(
        "update expiry_hold set lifted_at = clock_timestamp() where lifted_at is null");
  }

  private void moveOffsets(Map<TopicPartition, Long> offsets) {
    await("the group to be empty")
        .atMost(PATIENCE)
        .ignoreExceptions()
        .until(
            () -> {
              Stage.get(
                  stage
                      .admin()
                      .alterConsumerGroupOffsets(
                          stage.name(),
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

  private void deleteRecords(TopicPartition partition) {
    long end = stage.ends(List.of(partition)).getOrDefault(partition, 0L);
    Stage.get(
        stage.admin().deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(end))).all());
  }

  private void makeAnew(String topic) {
    Stage.get(stage.admin().deleteTopics(List.of(topic)).all());
    await("the topic to be gone")
        .atMost(PATIENCE)
        .until(() -> !stage.partitionCounts().containsKey(topic));
    stage.createTopics(List.of(new NewTopic(topic, Stage.PARTITIONS, (short) 1)));
  }
}
