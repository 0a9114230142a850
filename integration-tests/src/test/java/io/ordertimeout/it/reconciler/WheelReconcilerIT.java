package io.ordertimeout.it.reconciler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WheelReconcilerIT {

  private static final String[] EAGER = {
    "order-timeout.reconciler.interval", "1s",
    "order-timeout.reconciler.confirm-after", "500ms",
    "order-timeout.reconciler.overdue-after", "2s"
  };
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();

  @AfterEach
  void close() {
    scenario.close();
  }

  @Test
  void anOrderThatTheWheelDoesNotKnowIsArmed() {
    try (Service service = scenario.startService(EAGER)) {
      serveAllShards();
      database.execute(
          """
          insert into order_deadline (order_id, shard, state, created_at, deadline)
          values ('planted', 1, 'PENDING', clock_timestamp(), clock_timestamp() + '3s')
          """);

      scenario.outcomes().awaitCancelled("planted");

      assertThat(service.counter("order.timeout.repaired", "kind", "missing")).isEqualTo(1);
      assertThat(service.counter("order.timeout.repaired")).isEqualTo(1);
    }
  }

  @Test
  void anOrderThatIsNotPendingIsTakenOutOfTheWheel() {
    try (Service service = scenario.startService(EAGER)) {
      scenario.create("planted", 1, Scenario.in(Duration.ofHours(1)));
      scenario.awaitState("planted", "PENDING");
      database.execute(
          """
          update order_deadline set state = 'CLOSED', decided_at = clock_timestamp()
          where order_id = 'planted'
          """);

      await("the repair")
          .atMost(PATIENCE)
          .until(() -> service.counter("order.timeout.repaired", "kind", "extra") == 1);

      // Counted when the wheel is told, which is before it has done so.
      await("the repaired wheel")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.pending") == 0);
      assertThat(service.counter("order.timeout.repaired")).isEqualTo(1);
    }
  }

  @Test
  void anOrderAtTheWrongTimeIsMoved() {
    try (Service service = scenario.startService(EAGER)) {
      scenario.create("planted", 1, Scenario.in(Duration.ofHours(1)));
      scenario.awaitState("planted", "PENDING");
      database.execute(
          "update order_deadline set deadline = clock_timestamp() + '3s' where order_id = 'planted'");

      scenario.outcomes().awaitCancelled("planted");

      assertThat(service.counter("order.timeout.repaired", "kind", "deadline")).isEqualTo(1);
      assertThat(service.counter("order.timeout.repaired")).isEqualTo(1);
    }
  }

  @Test
  void ordersThatNobodyOwnsAreSeenAsOverdue() {
    try (Service service = scenario.startService(EAGER)) {
      serveAllShards();
      // A shard beyond all partitions, as if there had been more of them once.
      database.execute(
          """
          insert into order_deadline (order_id, shard, state, created_at, deadline)
          select 'planted-' || i, 7, 'PENDING', clock_timestamp() - '1 h'::interval,
            clock_timestamp()
          from generate_series(1, 5) as g(i)
          """);

      await("the alarm").atMost(PATIENCE).until(() -> service.gauge("order.timeout.overdue") == 5);
    }
  }

  @Test
  void whereAllIsWellNothingIsRepairedButWhatWasPlanted() {
    try (Service service = scenario.startService(EAGER)) {
      Instant deadline = Scenario.in(Duration.ofSeconds(4));
      for (int i = 0; i < 300; i++) {
        if (i % 2 == 0) {
          scenario.create("order-" + i, i % 3, Scenario.in(Duration.ofHours(1)));
          scenario.pay("order-" + i, i % 3);
        } else {
          scenario.create("order-" + i, i % 3, deadline.plusMillis(10L * i));
        }
      }
      scenario.awaitAllDecided();
      assertThat(scenario.outcomes().cancelled()).hasSize(150);
      // Found by a sweep that came by all shards since, this one last.
      database.execute(
          """
          insert into order_deadline (order_id, shard, state, created_at, deadline)
          values ('planted', 2, 'PENDING', clock_timestamp(), clock_timestamp())
          """);
      scenario.outcomes().awaitCancelled("planted");
      assertThat(service.counter("order.timeout.repaired")).isEqualTo(1);
      assertThat(service.gauge("order.timeout.overdue")).isZero();
    }
  }

  private void serveAllShards() {
    for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
      String orderId = "first-of-" + partition;
      scenario.create(orderId, partition, Scenario.in(Duration.ofMillis(500)));
      scenario.outcomes().awaitCancelled(orderId);
    }
  }
}
