package io.ordertimeout.it.watermark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Interceptors;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.TopicNames;
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

  private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();
  private final TopicNames topics = scenario.topics();

  @AfterEach
  void close() {
    scenario.close();
  }

  @Test
  void offsetsThatAnOperatorMovesForwardSkipNothing() {
    Instant deadline = registerAndStop("paid", "unpaid");
    scenario.pay("paid", 0);
    moveOffsets(scenario.ends(scenario.allPartitions()));

    try (Service service = scenario.startService()) {
      scenario.awaitState("paid", "PAID");
      scenario.awaitPast(deadline);
      scenario.outcomes().awaitCancelled("unpaid");
      assertThat(service.gauge("order.timeout.expiry.held")).isZero();
    }
    assertThat(scenario.outcomes().cancelled("paid")).isEmpty();
  }

  @Test
  void offsetsThatAnOperatorMovesBackChangeNothing() {
    registerAndStop("paid", "unpaid");
    scenario.pay("paid", 0);
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
          .atMost(PATIENCE)
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
  void offsetsThatHaveExpiredSkipNothing() {
    registerAndStop("paid", "unpaid");
    scenario.pay("paid", 0);
    Scenario.get(scenario.admin().deleteConsumerGroups(List.of(scenario.name())).all());

    // Kafka would be asked for the time of the start.
    try (Service service = scenario.startService("order-timeout.intake.start-back", "0s")) {
      scenario.outcomes().awaitCancelled("unpaid");
      assertThat(database.state("paid")).isEqualTo("PAID");
      assertThat(service.counter("order.timeout.cancelled")).isEqualTo(1);
    }
  }

  @Test
  void aCommitThatFailsIsMadeUpForWhenNothingElseComes() {
    AtomicInteger refusals = new AtomicInteger();
    AtomicBoolean refusing = new AtomicBoolean();
    BeanPostProcessor seam =
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
    try (Service service = scenario.startService(List.of(seam))) {
      scenario.create("first", 0, Scenario.in(Duration.ofHours(1)));
      scenario.awaitQuiet();
      refusing.set(true);
      scenario.create("last", 0, Scenario.in(Duration.ofHours(1)));

      scenario.awaitQuiet();
      assertThat(refusals).hasValue(3);
      await("the step to work again")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.failing") == 0);
    }
  }

  @Test
  void paymentsDeletedBeforeTheyWereReadHoldTheirShardUntilAnOperatorGoesOn() {
    Instant deadline = registerAndStop("paid", "unpaid");
    scenario.create("elsewhere", 1, deadline);
    scenario.pay("paid", 0);
    deleteRecords(new TopicPartition(topics.paid(), 0));

    try (Service service = scenario.startService()) {
      scenario.outcomes().awaitCancelled("elsewhere");
      await("the alarm")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.expiry.held") == 1);
      assertThat(database.state("paid")).isEqualTo("PENDING");
      assertThat(database.state("unpaid")).isEqualTo("PENDING");
    }
    // It stays so, whoever takes the shard over.
    try (Service service = scenario.startService()) {
      await("the alarm")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.expiry.held") == 1);
      passADeadline(1, "still-elsewhere");
      assertThat(scenario.outcomes().cancelled()).hasSize(2);
      // New payments of the shard are read all the same.
      scenario.pay("paid", 0);
      scenario.awaitState("paid", "PAID");

      assertThat(liftHolds()).isEqualTo(1);

      scenario.outcomes().awaitCancelled("unpaid");
      assertThat(service.gauge("order.timeout.expiry.held")).isZero();
    }
  }

  @Test
  void aPositionThatFallsOffTheLogHoldsItsShardAndNoOther() {
    try (Service service = scenario.startService("order-timeout.intake.batch-size", "1")) {
      Instant deadline = Scenario.in(Duration.ofSeconds(6));
      scenario.create("held", 0, deadline);
      scenario.awaitState("held", "PENDING");
      // Nothing is stored any more, so the positions stand still.
      database.execute("alter table order_deadline rename to order_deadline_away");
      scenario.pay("other", 0);
      scenario.pay("held", 0);
      deleteRecords(new TopicPartition(topics.paid(), 0));
      database.execute("alter table order_deadline_away rename to order_deadline");

      await("the alarm")
          .atMost(PATIENCE)
          .until(
              () ->
                  service.gauge("order.timeout.expiry.held") == 1
                      || "PAID".equals(database.state("held")));
      scenario.awaitPast(deadline);
      passADeadline(1, "elsewhere");
      // What was fetched before it was deleted may have been stored after all.
      assertThat(database.state("held")).isIn("PENDING", "PAID");
      assertThat(scenario.outcomes().cancelled("held")).isEmpty();
    }
  }

  @Test
  void aTopicMadeAnewHoldsTheShardsItHadRecordsOf() {
    registerAndStop("paid", "unpaid");
    scenario.pay("paid", 0);
    makeAnew(topics.paid());

    try (Service service = scenario.startService()) {
      await("the alarm")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.expiry.held") == Scenario.PARTITIONS);
      scenario.pay("unpaid", 0);
      scenario.awaitState("unpaid", "PAID");
      assertThat(liftHolds()).isEqualTo(Scenario.PARTITIONS);
      PublishedEvent wrong = scenario.outcomes().awaitCancelled("paid");
      // Which is why somebody has to decide it: Kafka does not know of this payment any more.
      assertThat(wrong.key()).isEqualTo("paid");
    }
  }

  @Test
  void aTopicMadeAnewUnderARunningServiceIsNoticedBeforeTheNextCancellation() {
    try (Service service = scenario.startService()) {
      passADeadline(0, "before");
      scenario.create("held", 0, Scenario.in(Duration.ofSeconds(3)));
      scenario.awaitState("held", "PENDING");
      makeAnew(topics.paid());

      await("the alarm")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.expiry.held") == Scenario.PARTITIONS);
      assertThat(scenario.outcomes().cancelled("held")).isEmpty();
      assertThat(liftHolds()).isEqualTo(Scenario.PARTITIONS);
      scenario.outcomes().awaitCancelled("held");
    }
  }

  /** Registers orders in partition 0, due soon after, and stops the service before they are due. */
  private Instant registerAndStop(String... orderIds) {
    try (Service service = scenario.startService()) {
      Instant deadline = Scenario.in(Duration.ofSeconds(5));
      for (String orderId : orderIds) {
        scenario.create(orderId, 0, deadline);
        scenario.awaitState(orderId, "PENDING");
      }
      scenario.awaitQuiet();
      assertThat(service.gauge("order.timeout.pending")).isEqualTo(orderIds.length);
      return deadline;
    }
  }

  private void passADeadline(int partition, String orderId) {
    scenario.create(orderId, partition, Scenario.in(Duration.ofMillis(500)));
    scenario.outcomes().awaitCancelled(orderId);
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
              Scenario.get(
                  scenario
                      .admin()
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

  private void deleteRecords(TopicPartition partition) {
    long end = scenario.ends(List.of(partition)).getOrDefault(partition, 0L);
    Scenario.get(
        scenario.admin().deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(end))).all());
  }

  private void makeAnew(String topic) {
    Scenario.get(scenario.admin().deleteTopics(List.of(topic)).all());
    await("the topic to be gone")
        .atMost(PATIENCE)
        .until(() -> !scenario.partitionCounts().containsKey(topic));
    scenario.createTopics(List.of(new NewTopic(topic, Scenario.PARTITIONS, (short) 1)));
  }
}
