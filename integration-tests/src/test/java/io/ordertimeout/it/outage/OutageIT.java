package io.ordertimeout.it.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.rig.PublishedEvent;
import io.ordertimeout.it.rig.Service;
import io.ordertimeout.it.rig.Stage;
import io.ordertimeout.it.rig.TestPlatform;
import io.ordertimeout.local.EmbeddedPlatform;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Kafka or Postgres stopped and started again; embedded ones, since no others may be stopped. */
class OutageIT {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static EmbeddedPlatform platform;

  private Stage stage;

  @BeforeAll
  static void startPlatform() {
    platform = EmbeddedPlatform.startTemporary();
  }

  @AfterAll
  static void stopPlatform() {
    platform.close();
  }

  @BeforeEach
  void open() {
    TestPlatform both = TestPlatform.of(platform);
    stage = Stage.on(both, both);
  }

  @AfterEach
  void close() {
    platform.startKafka();
    platform.startPostgres();
    stage.close();
  }

  @Test
  void aPostgresThatIsAwayAtTheStartIsWaitedFor() {
    platform.stopPostgres();
    try (Service service = stage.startService()) {
      Instant deadline = Stage.in(Duration.ofSeconds(1));
      stage.create("paid", 0, deadline);
      stage.create("unpaid", 0, deadline);
      stage.pay("paid", 0);
      assertThat(service.isReady()).isFalse();

      platform.startPostgres();

      service.awaitReady(true);
      assertDecided(deadline);
    }
  }

  @Test
  void aKafkaThatIsAwayAtTheStartIsWaitedFor() {
    Instant deadline = Stage.in(Duration.ofSeconds(1));
    stage.create("paid", 0, deadline);
    stage.create("unpaid", 0, deadline);
    stage.pay("paid", 0);
    platform.stopKafka();
    try (Service service = stage.startService()) {
      assertThat(service.isReady()).isFalse();

      platform.startKafka();

      service.awaitReady(true);
      assertDecided(deadline);
    }
  }

  @Test
  void aPostgresThatGoesAwayDelaysDecisionsAndLosesNone() {
    try (Service service = stage.startService()) {
      Instant deadline = Stage.in(Duration.ofSeconds(4));
      stage.create("paid", 0, deadline);
      stage.create("unpaid", 0, deadline);
      stage.awaitState("unpaid", "PENDING");
      platform.crashPostgres();
      stage.pay("paid", 0);
      stage.create("created-meanwhile", 1, deadline);
      service.awaitReady(false);
      await("the gauges").atMost(PATIENCE).until(() -> service.gauge("order.timeout.failing") > 0);

      platform.startPostgres();

      assertDecided(deadline);
      stage.outcomes().awaitCancelled("created-meanwhile");
      service.awaitReady(true);
      await("the gauges").atMost(PATIENCE).until(() -> service.gauge("order.timeout.failing") == 0);
      assertThat(service.counter("order.timeout.repaired")).isZero();
    }
  }

  @Test
  void aKafkaThatGoesAwayDelaysDecisionsAndLosesNone() {
    try (Service service = stage.startService()) {
      Instant deadline = Stage.in(Duration.ofSeconds(4));
      stage.create("paid", 0, deadline);
      stage.create("unpaid", 0, deadline);
      stage.awaitState("unpaid", "PENDING");
      stage.pay("paid", 0);
      platform.stopKafka();
      service.awaitReady(false);
      stage.awaitPast(deadline);
      // Nobody can tell whether it was paid.
      await("the hold")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.watermark.lag") > 0);
      assertThat(stage.database().state("unpaid")).isEqualTo("PENDING");

      platform.startKafka();

      assertDecided(deadline);
      service.awaitReady(true);
      assertThat(service.counter("order.timeout.repaired")).isZero();
    }
  }

  @Test
  void bothGoingAwayDelaysDecisionsAndLosesNone() {
    try (Service service = stage.startService()) {
      Instant deadline = Stage.in(Duration.ofSeconds(4));
      stage.create("paid", 0, deadline);
      stage.create("unpaid", 0, deadline);
      stage.pay("paid", 0);
      stage.awaitState("unpaid", "PENDING");
      platform.stopPostgres();
      platform.stopKafka();
      service.awaitReady(false);

      platform.startKafka();
      platform.startPostgres();

      assertDecided(deadline);
      service.awaitReady(true);
    }
  }

  private void assertDecided(Instant deadline) {
    PublishedEvent event = stage.outcomes().awaitCancelled("unpaid");
    assertThat(event.instant("cancelledAt")).isAfterOrEqualTo(deadline);
    stage.awaitState("paid", "PAID");
    stage.awaitQuiet();
    assertThat(stage.outcomes().cancelled("paid")).isEmpty();
    assertThat(stage.outcomes().cancelled("unpaid")).hasSize(1);
  }
}
