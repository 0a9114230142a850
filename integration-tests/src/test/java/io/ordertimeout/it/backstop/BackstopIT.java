package io.ordertimeout.it.backstop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.rig.Database;
import io.ordertimeout.it.rig.Service;
import io.ordertimeout.it.rig.Stage;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BackstopIT {

  private static final String[] EAGER = {
    "order-timeout.backstop.interval", "1s",
    "order-timeout.backstop.confirm-after", "500ms",
    "order-timeout.backstop.overdue-after", "2s"
  };
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Stage stage = Stage.create();
  private final Database database = stage.database();

  @AfterEach
  void close() {
    stage.close();
  }

  @Test
  void anOrderThatTheWheelDoesNotKnowIsArmed() {
    try (Service service = stage.startService(EAGER)) {
      serveAllShards();
      database.execute(
          """
          insert into order_deadline (order_id, shard, state, created_at, deadline)
          values ('planted', 1, 'PENDING', clock_timestamp(), clock_timestamp() + '3s')
          """);

      stage.outcomes().awaitCancelled("planted");

      assertThat(service.counter("order.timeout.repaired", "kind", "missing")).isEqualTo(1);
      assertThat(service.counter("order.timeout.repaired")).isEqualTo(1);
    }
  }

  @Test
  void anOrderThatIsNotPendingIsTakenOutOfTheWheel() {
    try (Service service = stage.startService(EAGER)) {
      stage.create("planted", 1, Stage.in(Duration.ofHours(1)));
      stage.awaitState("planted", "PENDING");
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
    try (Service service = stage.startService(EAGER)) {
      stage.create("planted", 1, Stage.in(Duration.ofHours(1)));
      stage.awaitState("planted", "PENDING");
      database.execute(
          "update order_deadline set deadline = clock_timestamp() + '3s' where order_id = 'planted'");

      stage.outcomes().awaitCancelled("planted");

      assertThat(service.counter("order.timeout.repaired", "kind", "deadline")).isEqualTo(1);
      assertThat(service.counter("order.timeout.repaired")).isEqualTo(1);
    }
  }

  @Test
  void ordersThatNobodyOwnsAreSeenAsOverdue() {
    try (Service service = stage.startService(EAGER)) {
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
    try (Service service = stage.startService(EAGER)) {
      Instant deadline = Stage.in(Duration.ofSeconds(4));
      for (int i = 0; i < 300; i++) {
        if (i % 2 == 0) {
          stage.create("order-" + i, i % 3, Stage.in(Duration.ofHours(1)));
          stage.pay("order-" + i, i % 3);
        } else {
          stage.create("order-" + i, i % 3, deadline.plusMillis(10L * i));
        }
      }
      stage.awaitAllDecided();
      assertThat(stage.outcomes().cancelled()).hasSize(150);
      // Found by a sweep that came by all shards since, this one last.
      database.execute(
          """
          insert into order_deadline (order_id, shard, state, created_at, deadline)
          values ('planted', 2, 'PENDING', clock_timestamp(), clock_timestamp())
          """);
      stage.outcomes().awaitCancelled("planted");
      assertThat(service.counter("order.timeout.repaired")).isEqualTo(1);
      assertThat(service.gauge("order.timeout.overdue")).isZero();
    }
  }

  private void serveAllShards() {
    for (int partition = 0; partition < Stage.PARTITIONS; partition++) {
      String orderId = "first-of-" + partition;
      stage.create(orderId, partition, Stage.in(Duration.ofMillis(500)));
      stage.outcomes().awaitCancelled(orderId);
    }
  }
}
