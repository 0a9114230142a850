package io.ordertimeout.it.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.rig.Database;
import io.ordertimeout.it.rig.PublishedEvent;
import io.ordertimeout.it.rig.Service;
import io.ordertimeout.it.rig.Stage;
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

  private final Stage stage = Stage.create();
  private final Database database = stage.database();

  @AfterEach
  void close() {
    stage.close();
  }

  @Test
  void theyMoveByTheOutageIfConfiguredSo() {
    Instant deadline;
    Instant beganAt;
    try (Service service = stage.startService(EXTENDING)) {
      stage.create("first", 0, Stage.in(Duration.ofMillis(500)));
      stage.outcomes().awaitCancelled("first");
      deadline = Stage.in(Duration.ofSeconds(5));
      stage.create("before", 0, deadline);
      stage.create("paid", 0, deadline);
      stage.awaitState("paid", "PENDING");
      // An outage is measured from the last heartbeat, so there has to be one.
      await("a heartbeat")
          .until(() -> database.count("select count(*) from shard_heartbeat where shard = 0") == 1);
      assertThat(service.counter("order.timeout.cancelled")).isEqualTo(1);
    }
    beganAt = database.now();
    stage.awaitPast(beganAt.plusSeconds(6));
    Instant createdAt = Stage.in(Duration.ZERO);
    stage.create("during", 0, createdAt.plusSeconds(2), createdAt);
    stage.awaitPast(beganAt.plusSeconds(14));
    stage.pay("paid", 0);

    try (Service service = stage.startService(EXTENDING)) {
      PublishedEvent during = stage.outcomes().awaitCancelled("during");
      PublishedEvent before = stage.outcomes().awaitCancelled("before");

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
    Instant deadline = Stage.in(Duration.ofSeconds(1));
    IntStream.range(0, orders).forEach(i -> stage.create("order-" + i, 0, deadline));
    stage.awaitPast(deadline);

    try (Service service =
        stage.startService(
            "order-timeout.expiry.max-rate", "100", "order-timeout.expiry.batch-size", "50")) {
      stage.awaitAllDecided();
      List<Instant> cancelledAt =
          stage.outcomes().cancelled().stream()
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
