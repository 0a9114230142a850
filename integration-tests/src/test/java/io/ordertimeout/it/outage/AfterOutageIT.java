package io.ordertimeout.it.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Deadlines that passed while nobody watched. */
class AfterOutageIT {

  private static final String[] EXTENDING = {
    "order-timeout.expiry.after-outage", "extend-by-outage",
    "order-timeout.expiry.outage-after", "10s"
  };

  private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();

  @AfterEach
  void close() {
    scenario.close();
  }

  @Test
  void theyMoveByTheOutageIfConfiguredSo() {
    Instant deadline;
    Instant beganAt;
    try (Service service = scenario.startService(EXTENDING)) {
      scenario.create("first", 0, Scenario.in(Duration.ofMillis(500)));
      scenario.outcomes().awaitCancelled("first");
      deadline = Scenario.in(Duration.ofSeconds(5));
      scenario.create("before", 0, deadline);
      scenario.create("paid", 0, deadline);
      scenario.awaitState("paid", "PENDING");
      // An outage is measured from the last heartbeat, so there has to be one.
      await("a heartbeat")
          .until(() -> database.count("select count(*) from shard_heartbeat where shard = 0") == 1);
      assertThat(service.counter("order.timeout.cancelled")).isEqualTo(1);
    }
    beganAt = database.now();
    scenario.awaitPast(beganAt.plusSeconds(6));
    Instant createdAt = Scenario.in(Duration.ZERO);
    scenario.create("during", 0, createdAt.plusSeconds(2), createdAt);
    scenario.awaitPast(beganAt.plusSeconds(14));
    scenario.pay("paid", 0);

    try (Service service = scenario.startService(EXTENDING)) {
      PublishedEvent during = scenario.outcomes().awaitCancelled("during");
      PublishedEvent before = scenario.outcomes().awaitCancelled("before");

      Instant endedAt = Instant.parse(text("ended_at"));
      Duration outage = Duration.between(Instant.parse(text("began_at")), endedAt);
      assertThat(outage).isGreaterThan(Duration.ofSeconds(13));
      assertThat(before.instant("deadline")).isEqualTo(deadline.plus(outage));
      assertThat(before.instant("cancelledAt")).isAfterOrEqualTo(deadline.plus(outage));
      // It lived through the later part only.
      assertThat(during.instant("deadline")).isEqualTo(endedAt.plusSeconds(2));
      assertThat(database.state("paid")).isEqualTo("PAID");
      assertThat(service.counter("order.timeout.repaired")).isZero();
    }
  }

  @Test
  void whatTheyHeldBackComesOutAtTheConfiguredRate() {
    int orders = 600;
    Instant deadline = Scenario.in(Duration.ofSeconds(1));
    IntStream.range(0, orders).forEach(i -> scenario.create("order-" + i, 0, deadline));
    scenario.awaitPast(deadline);

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
      // All but the first batch had to wait for their turn, a little less for the ticks of clocks.
      assertThat(Duration.between(cancelledAt.get(0), cancelledAt.get(orders - 1)))
          .isGreaterThan(Duration.ofSeconds(5));
      assertThat(service.counter("order.timeout.cancelled")).isEqualTo(orders);
    }
  }

  private String text(String column) {
    return database.text(
        "select to_json("
            + column
            + " at time zone 'UTC')#>>'{}' || 'Z' from shard_outage"
            + " where shard = 0");
  }
}
