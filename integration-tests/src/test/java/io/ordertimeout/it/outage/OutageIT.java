package io.ordertimeout.it.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.embedded.EmbeddedPlatform;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.TestEnvironment;
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

  private Scenario scenario;

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
    TestEnvironment both = TestEnvironment.of(platform);
    scenario = Scenario.on(both, both);
  }

  @AfterEach
  void close() {
    platform.startKafka();
    platform.startPostgres();
    scenario.close();
  }

  @Test
  void aPostgresThatIsAwayAtTheStartIsWaitedFor() {
    platform.stopPostgres();
    try (Service service = scenario.startService()) {
      Instant deadline = Scenario.in(Duration.ofSeconds(1));
      scenario.create("paid", 0, deadline);
      scenario.create("unpaid", 0, deadline);
      scenario.pay("paid", 0);
      assertThat(service.isReady()).isFalse();

      platform.startPostgres();

      service.awaitReady(true);
      assertDecided(deadline);
    }
  }

  @Test
  void aKafkaThatIsAwayAtTheStartIsWaitedFor() {
    Instant deadline = Scenario.in(Duration.ofSeconds(1));
    scenario.create("paid", 0, deadline);
    scenario.create("unpaid", 0, deadline);
    scenario.pay("paid", 0);
    platform.stopKafka();
    try (Service service = scenario.startService()) {
      assertThat(service.isReady()).isFalse();

      platform.startKafka();

      service.awaitReady(true);
      assertDecided(deadline);
    }
  }

  @Test
  void aPostgresThatGoesAwayDelaysDecisionsAndLosesNone() {
    try (Service service = scenario.startService()) {
      Instant deadline = Scenario.in(Duration.ofSeconds(4));
      scenario.create("paid", 0, deadline);
      scenario.create("unpaid", 0, deadline);
      scenario.awaitState("unpaid", "PENDING");
      platform.crashPostgres();
      scenario.pay("paid", 0);
      scenario.create("created-meanwhile", 1, deadline);
      service.awaitReady(false);
      await("the gauges").atMost(PATIENCE).until(() -> service.gauge("order.timeout.failing") > 0);

      platform.startPostgres();

      assertDecided(deadline);
      scenario.outcomes().awaitCancelled("created-meanwhile");
      service.awaitReady(true);
      await("the gauges").atMost(PATIENCE).until(() -> service.gauge("order.timeout.failing") == 0);
      assertThat(service.counter("order.timeout.repaired")).isZero();
    }
  }

  @Test
  void aKafkaThatGoesAwayDelaysDecisionsAndLosesNone() {
    try (Service service = scenario.startService()) {
      Instant deadline = Scenario.in(Duration.ofSeconds(4));
      scenario.create("paid", 0, deadline);
      scenario.create("unpaid", 0, deadline);
      scenario.awaitState("unpaid", "PENDING");
      scenario.pay("paid", 0);
      platform.stopKafka();
      service.awaitReady(false);
      scenario.awaitPast(deadline);
      // Nobody can tell whether it was paid.
      await("the hold")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.watermark.lag") > 0);
      assertThat(scenario.database().state("unpaid")).isEqualTo("PENDING");

      platform.startKafka();

      assertDecided(deadline);
      service.awaitReady(true);
      assertThat(service.counter("order.timeout.repaired")).isZero();
    }
  }

  @Test
  void bothGoingAwayDelaysDecisionsAndLosesNone() {
    try (Service service = scenario.startService()) {
      Instant deadline = Scenario.in(Duration.ofSeconds(4));
      scenario.create("paid", 0, deadline);
      scenario.create("unpaid", 0, deadline);
      scenario.pay("paid", 0);
      scenario.awaitState("unpaid", "PENDING");
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
    PublishedEvent event = scenario.outcomes().awaitCancelled("unpaid");
    assertThat(event.instant("cancelledAt")).isAfterOrEqualTo(deadline);
    scenario.awaitState("paid", "PAID");
    scenario.awaitQuiet();
    assertThat(scenario.outcomes().cancelled("paid")).isEmpty();
    assertThat(scenario.outcomes().cancelled("unpaid")).hasSize(1);
  }
}
