package io.ordertimeout.it.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.orders.outbox.EventId;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A published cancellation is restored while another instance stores a payment of the same order:
 * the payment becomes a conflict, whichever of them commits first.
 */
@Tag("faults")
class RestoreRaceIT {

  private static final String WAITING_FOR_LOCKS =
      "select count(*) from pg_stat_activity"
          + " where datname = current_database() and wait_event_type = 'Lock'";

  @AutoClose private Scenario scenario;
  private Database database;
  private Service service;

  @BeforeEach
  void start() {
    scenario = Scenario.create();
    database = scenario.database();
    service = scenario.startService();
    service.awaitReady(true);
  }

  @Test
  void aPaymentThatCommitsDuringTheRestoreIsAConflict() throws SQLException {
    scenario.createPending("pending", 0);

    restoreWhile(
        "pending",
        """
        update order_deadline set state = 'PAID', decided_at = clock_timestamp(),
          decided_by = 'PAYMENT', payment_id = 'first', paid_at = clock_timestamp()
        where order_id = 'pending'
        """);
    restoreWhile(
        "unknown",
        """
        insert into order_deadline (
          order_id, shard, state, decided_at, decided_by, payment_id, paid_at)
        values ('unknown', 0, 'PAID', clock_timestamp(), 'PAYMENT', 'first', clock_timestamp())
        """);

    assertConflicts("pending", "first");
    assertConflicts("unknown", "first");
  }

  @Test
  void aSecondPaymentThatCommitsDuringTheRestoreIsAConflict() throws SQLException {
    scenario.createPending("paid", 0);
    scenario.shop().paid("paid", "first");
    scenario.awaitState("paid", "PAID");

    // Storing a payment locks the row of its order, also when it changes nothing there.
    restoreWhile(
        "paid",
        "select 1 from order_deadline where order_id = 'paid' for update",
        """
        insert into payment_without_effect (order_id, payment_id, paid_at)
        values ('paid', 'second', clock_timestamp())
        """);

    assertConflicts("paid", "first", "second");
  }

  /** Publishes the order's cancellation, and commits the statements when its restore waits. */
  private void restoreWhile(String orderId, String... statements) throws SQLException {
    try (Connection other = database.connect();
        Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      for (String sql : statements) {
        statement.execute(sql);
      }
      publishCancellation(orderId);
      await("the restore to wait for the other transaction")
          .until(() -> database.count(WAITING_FOR_LOCKS) > 0);
      other.commit();
    }
    scenario.awaitState(orderId, "CANCELLED");
  }

  /** Publishes what an instance did whose decision Postgres has lost. */
  private void publishCancellation(String orderId) {
    Instant cancelledAt = Scenario.in(Duration.ZERO);
    Shop.await(
        scenario
            .shop()
            .send(
                new ProducerRecord<>(
                    scenario.topics().cancelled(),
                    Shop.utf8(orderId),
                    Shop.json(
                        Map.of(
                            "eventId", EventId.ofCancellation(orderId).toString(),
                            "orderId", orderId,
                            "deadline", cancelledAt.toString(),
                            "cancelledAt", cancelledAt.toString())))));
  }

  private void assertConflicts(String orderId, String... paymentIds) {
    List<PublishedEvent> conflicts = scenario.outcomes().awaitConflicts(orderId, paymentIds.length);
    assertThat(conflicts)
        .extracting(event -> event.text("paymentId"))
        .containsExactlyInAnyOrder(paymentIds);
  }
}
