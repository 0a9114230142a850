package io.ordertimeout.it.reconciler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Differences between the wheel and the table, planted past the service, are found and repaired.
 */
@Order(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WheelReconcilerIT {

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();
  private final Service service =
      scenario.startService(
          "order-timeout.reconciler.interval", "1s",
          "order-timeout.reconciler.confirm-after", "500ms",
          "order-timeout.reconciler.overdue-after", "2s");

  @Test
  void anOrderMissingFromTheWheelIsArmed() {
    passADeadlineOfEachShard("missing");
    double missing = repaired("kind", "missing");
    double all = repaired();
    database.execute(
        """
        insert into order_deadline (order_id, shard, state, created_at, deadline)
        values ('missing', 1, 'PENDING', clock_timestamp(), clock_timestamp() + '2s')
        """);

    scenario.outcomes().awaitCancelled("missing");

    assertThat(repaired("kind", "missing")).isEqualTo(missing + 1);
    assertThat(repaired()).isEqualTo(all + 1);
  }

  @Test
  void anOrderThatIsNoLongerPendingIsTakenOutOfTheWheel() {
    double extra = repaired("kind", "extra");
    double all = repaired();
    scenario.createPending("extra", 1);
    database.execute(
        """
        update order_deadline set state = 'CLOSED', decided_at = clock_timestamp()
        where order_id = 'extra'
        """);

    await("the repair").until(() -> repaired("kind", "extra") == extra + 1);

    // Repairs are counted when the wheel is notified, a moment before it has changed.
    await("the repaired wheel").until(() -> service.gauge("order.timeout.pending") == 0);
    assertThat(repaired()).isEqualTo(all + 1);
  }

  @Test
  void anOrderArmedForAnotherTimeIsMoved() {
    double moved = repaired("kind", "deadline");
    double all = repaired();
    scenario.createPending("moved", 1);
    database.execute(
        "update order_deadline set deadline = clock_timestamp() + '2s' where order_id = 'moved'");

    scenario.outcomes().awaitCancelled("moved");

    assertThat(repaired("kind", "deadline")).isEqualTo(moved + 1);
    assertThat(repaired()).isEqualTo(all + 1);
  }

  @Test
  void anOrderThatIsParkedLeavesTheWheelWithoutARepair() {
    double all = repaired();
    scenario.createPending("parked", 1);
    Shop.await(
        scenario
            .shop()
            .send(
                new ProducerRecord<>(
                    scenario.topics().paid(), 1, Shop.utf8("parked"), Shop.utf8("garbage"))));

    await("the wheel without the order").until(() -> service.gauge("order.timeout.pending") == 0);
    assertThat(repaired()).isEqualTo(all);

    service
        .http()
        .operator()
        .post("/api/v1/order/release", Map.of("orderId", "parked", "reason", "it was not paid"));
    await("the order in the wheel").until(() -> service.gauge("order.timeout.pending") == 1);
    scenario.pay("parked", 1);
    scenario.awaitState("parked", "PAID");
  }

  @Test
  void ordersOfAShardWithoutAnOwnerAreReportedAsOverdue() {
    passADeadlineOfEachShard("overdue");
    // A shard beyond all partitions, as if the topics had once had more of them.
    database.execute(
        """
        insert into order_deadline (order_id, shard, state, created_at, deadline)
        select 'planted-' || i, 7, 'PENDING', clock_timestamp() - '1 h'::interval,
          clock_timestamp()
        from generate_series(1, 5) as g(i)
        """);

    await("the alarm").until(() -> service.gauge("order.timeout.overdue") == 5);

    database.execute("delete from order_deadline where shard = 7");
    await("its end").until(() -> service.gauge("order.timeout.overdue") == 0);
  }

  @Test
  void nothingElseIsRepairedUnderOrdinaryTraffic() {
    double all = repaired();
    Instant deadline = Scenario.in(Duration.ofSeconds(2));
    for (int i = 0; i < 300; i++) {
      if (i % 2 == 0) {
        scenario.create("order-" + i, i % 3, Scenario.in(Duration.ofHours(1)));
        scenario.pay("order-" + i, i % 3);
      } else {
        scenario.create("order-" + i, i % 3, deadline.plusMillis(10L * i));
      }
    }
    scenario.awaitAllDecided();
    assertThat(scenario.outcomes().cancelled())
        .filteredOn(event -> event.key().startsWith("order-"))
        .hasSize(150);
    // The sweep that finds it has visited all shards since, this one last.
    database.execute(
        """
        insert into order_deadline (order_id, shard, state, created_at, deadline)
        values ('only', 2, 'PENDING', clock_timestamp(), clock_timestamp())
        """);
    scenario.outcomes().awaitCancelled("only");
    assertThat(repaired()).isEqualTo(all + 1);
    assertThat(service.gauge("order.timeout.overdue")).isZero();
  }

  private double repaired(String... tags) {
    return service.counter("order.timeout.repaired", tags);
  }

  private void passADeadlineOfEachShard(String prefix) {
    for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
      scenario.passDeadline("%s-%d".formatted(prefix, partition), partition);
    }
  }
}
