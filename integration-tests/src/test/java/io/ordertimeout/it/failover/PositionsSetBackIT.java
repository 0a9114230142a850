package io.ordertimeout.it.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Interceptors;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.SuspensionRows;
import io.ordertimeout.it.traffic.Deadlines;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.beans.factory.config.BeanPostProcessor;

/** Positions that somebody sets back in Postgres under a running service. */
@Tag("faults")
class PositionsSetBackIT {

  @AutoClose private Scenario scenario;
  private Database database;

  @BeforeEach
  void open() {
    scenario = Scenario.create();
    database = scenario.database();
  }

  @Test
  void theirRecordsAreReadAgain() {
    try (Service service = scenario.startService()) {
      scenario.createPending("paid", 0);
      scenario.createPending("lost", 1);
      scenario.pay("paid", 0);
      scenario.awaitState("paid", "PAID");
      scenario.awaitQuiet();

      forgetAndSetBack();

      await("the lost order").until(() -> "PENDING".equals(database.state("lost")));
      scenario.awaitState("paid", "PAID");
      scenario.passDeadline("unpaid", 0);
      service.awaitReady(true);
      assertThat(scenario.outcomes().cancelled("paid")).isEmpty();
      assertThat(database.count(SuspensionRows.HOLDS)).isZero();
    }
  }

  /** The batch is not stored at once, but in parts. */
  @ParameterizedTest
  @EnumSource(Unusable.class)
  void noPartOfABatchIsStoredBeforeThem(Unusable unusable) {
    database.execute(
        "alter table order_deadline add check (order_id not like 'refused%') not valid");
    StoppedBatch batch = new StoppedBatch();
    Instant deadline = Scenario.in(Duration.ofHours(1));
    try (Service service = scenario.startService(List.of(batch.interceptor()));
        Shop shop = scenario.transactionalShop()) {
      scenario.create("order", 0, deadline);
      scenario.awaitState("order", "PENDING");
      scenario.awaitQuiet();
      batch.stopNext();
      // In a transaction, so that they are read together.
      shop.transactions().beginTransaction();
      // Not the first creation of the order, so it does not count.
      String now = Scenario.in(Duration.ZERO).toString();
      send(shop, "order", Shop.json(Map.of("orderId", "order", "payBy", now)));
      send(shop, unusable.orderId, Shop.utf8(unusable.value));
      shop.transactions().commitTransaction();
      batch.awaitStopped();

      database.execute(
          """
          with lost as (
            delete from order_deadline where order_id = 'order'
          )
          update intake_position set next_offset = 0 where topic = ? and partition = 0
          """,
          scenario.topics().created());
      batch.resume();

      await("the dead letter")
          .until(() -> !scenario.outcomes().deadLetters(scenario.topics().created()).isEmpty());
      scenario.awaitState("order", "PENDING");
      scenario.passDeadline("unpaid", 0);
      scenario.awaitQuiet();
      assertThat(database.deadline("order")).isEqualTo(deadline);
      assertThat(scenario.outcomes().cancelled("order")).isEmpty();
      service.awaitReady(true);
    } finally {
      batch.resume();
    }
  }

  private void send(Shop shop, String orderId, byte[] value) {
    Shop.await(
        shop.send(new ProducerRecord<>(scenario.topics().created(), 0, Shop.utf8(orderId), value)));
  }

  /** A record that is not stored with the others of its batch. */
  private enum Unusable {
    UNDECODABLE("any", "no JSON"),
    REJECTED_BY_POSTGRES("refused", "{\"orderId\":\"refused\"}");

    private final String orderId;
    private final String value;

    Unusable(String orderId, String value) {
      this.orderId = orderId;
      this.value = value;
    }
  }

  /** Stops the intake between reading a batch and storing it. */
  private static final class StoppedBatch {

    private final CountDownLatch resumed = new CountDownLatch(1);
    private volatile boolean stopping;
    private volatile boolean stopped;

    BeanPostProcessor interceptor() {
      return Interceptors.consumers(
          call -> {
            Object result = call.proceed();
            if (stopping
                && result instanceof ConsumerRecords<?, ?> records
                && !records.isEmpty()
                && !((Consumer<?, ?>) Objects.requireNonNull(call.getThis()))
                    .subscription()
                    .isEmpty()) {
              stopped = true;
              resumed.await();
            }
            return result;
          });
    }

    void stopNext() {
      stopping = true;
    }

    void awaitStopped() {
      await("a batch").until(() -> stopped);
    }

    void resume() {
      resumed.countDown();
    }
  }

  /** As a loss leaves Postgres: an order is unknown, another one is due and not paid. */
  private void forgetAndSetBack() {
    database.execute(
        """
        with lost as (
          delete from order_deadline where order_id = 'lost'
        ), unpaid as (
          update order_deadline
          set state = 'PENDING', decided_at = null, decided_by = null, payment_id = null,
            paid_at = null
          where order_id = 'paid'
        )
        update intake_position set next_offset = 0
        """);
    Deadlines.passNow(database, "paid");
  }
}
