package io.ordertimeout.it.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.orders.relay.OutboxRelay;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Deadlines that passed during an outage of the service. */
class AfterOutageIT {

  private static final String[] EXTENDING = {
    "order-timeout.expiry.after-outage", "extend-by-outage",
    "order-timeout.expiry.outage-after", "10s"
  };

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();

  @Test
  void deadlinesAreExtendedByTheOutageIfConfigured() {
    Instant later = Scenario.in(Duration.ofHours(1));
    Instant createdAt = later.minus(Duration.ofHours(2));
    try (Service service = scenario.startService(EXTENDING)) {
      scenario.create("first", 0, Scenario.in(Duration.ZERO));
      scenario.create("before", 0, later, createdAt);
      scenario.create("paid", 0, later, createdAt);
      scenario.outcomes().awaitCancelled("first");
      scenario.awaitState("paid", "PENDING");
      // The service measures an outage from its last heartbeat.
      await("a heartbeat")
          .until(() -> database.count("select count(*) from shard_heartbeat where shard = 0") == 1);
      assertThat(service.counter("order.timeout.cancelled")).isEqualTo(1);
    }
    // The outage began two minutes ago, and these deadlines passed one second later.
    database.execute("update shard_heartbeat set alive_at = alive_at - interval '2 min'");
    Instant beganAt = Instant.parse(text("alive_at", "shard_heartbeat"));
    Instant deadline = beganAt.plusSeconds(1);
    database.execute(
        "update order_deadline set deadline = ?::timestamptz where state = 'PENDING'",
        deadline.toString());
    Instant duringCreatedAt = beganAt.plusSeconds(60);
    scenario.create("during", 0, duringCreatedAt.plusSeconds(2), duringCreatedAt);
    scenario.pay("paid", 0);

    try (Service service = scenario.startService(EXTENDING)) {
      PublishedEvent during = scenario.outcomes().awaitCancelled("during");
      PublishedEvent before = scenario.outcomes().awaitCancelled("before");

      assertThat(Instant.parse(text("began_at", "shard_outage"))).isEqualTo(beganAt);
      Instant endedAt = Instant.parse(text("ended_at", "shard_outage"));
      Duration outage = Duration.between(beganAt, endedAt);
      assertThat(outage).isGreaterThan(Duration.ofMinutes(2));
      assertThat(before.instant("deadline")).isEqualTo(deadline.plus(outage));
      assertThat(before.instant("cancelledAt")).isAfterOrEqualTo(deadline.plus(outage));
      // It existed during the later part of the outage only.
      assertThat(during.instant("deadline")).isEqualTo(endedAt.plusSeconds(2));
      assertThat(during.instant("cancelledAt")).isAfterOrEqualTo(endedAt.plusSeconds(2));
      assertThat(database.state("paid")).isEqualTo("PAID");
      assertThat(service.counter("order.timeout.repaired")).isZero();
    }
  }

  @Test
  @Tag("faults")
  void overdueOrdersAreCancelledAtTheConfiguredRate() {
    int orders = 300;
    Instant deadline = Scenario.in(Duration.ofSeconds(-1));
    IntStream.range(0, orders).forEach(i -> scenario.create("order-" + i, 0, deadline));

    try (Service service =
        scenario.startService(
            "order-timeout.expiry.max-rate", "100", "order-timeout.expiry.batch-size", "50")) {
      scenario.awaitAllDecided();
      List<Instant> cancelledAt =
          scenario.outcomes().cancelled().stream()
              .map(event -> event.instant("cancelledAt"))
              .sorted()
              .toList();
      assertThat(cancelledAt).hasSize(orders);
      // All batches after the first one had to wait; clock ticks may make it a little less.
      assertThat(Duration.between(cancelledAt.get(0), cancelledAt.get(orders - 1)))
          .isGreaterThan(Duration.ofMillis(2_200));
      assertThat(service.counter("order.timeout.cancelled")).isEqualTo(orders);
    }
  }

  @Test
  @Tag("faults")
  void aBacklogLargerThanMemoryIsPublishedWithoutWaitingForTheNextSweep() {
    // More than one page of a sweep, of which the first exceeds the queues.
    long events = 12_000;
    leaveInOutbox(events);

    try (Service service = startServiceThatSweepsOnce()) {
      await("the backlog").until(() -> database.unpublished() == 0);
      assertThat(scenario.outcomes().cancelled()).hasSizeGreaterThanOrEqualTo((int) events);
      service.awaitReady(true);
    }
  }

  @Test
  @Tag("faults")
  void theBacklogOfAShardThatIsTakenOverDuringASweepIsPublishedWithoutWaitingForTheNextSweep() {
    try (Service service = startServiceThatSweepsOnce()) {
      service.awaitReady(true);
      OutboxRelay relay = service.bean(OutboxRelay.class);
      relay.abandon(0);
      relay.abandon(1);
      relay.abandon(2);
      leaveInOutbox(12_000);
      relay.adopt(0);
      await("the sweep's begin").until(() -> database.unpublished() < 12_000);
      assertThat(database.unpublished()).isGreaterThan(8_000);

      relay.adopt(1);
      relay.adopt(2);
      await("the backlog").until(() -> database.unpublished() == 0);
    }
  }

  private Service startServiceThatSweepsOnce() {
    return scenario.startService(
        "order-timeout.outbox.queue-capacity", "2000", "order-timeout.outbox.sweep-interval", "1h");
  }

  private void leaveInOutbox(long events) {
    database.execute(
        """
        with cancelled as (
          insert into order_deadline (
            order_id, shard, state, created_at, deadline, policy, decided_at, decided_by)
          select
            'order-' || i, i %% 3, 'CANCELLED', now() - interval '1 h', now() - interval '1 min',
            'DEFAULT', now() - interval '1 min', 'EXPIRY'
          from generate_series(1, %d) as i
          returning id, shard, decided_at
        )
        insert into outbox (order_row, shard, written_at)
        select id, shard, decided_at from cancelled
        """
            .formatted(events));
  }

  private String text(String column, String table) {
    return database.text(
        "select to_json(%s at time zone 'UTC')#>>'{}' || 'Z' from %s where shard = 0"
            .formatted(column, table));
  }
}
