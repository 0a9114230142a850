package io.ordertimeout.it.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.embedded.EmbeddedPlatform;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.TestEnvironment;
import io.ordertimeout.it.traffic.Deadlines;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Outages of Kafka and Postgres, on an embedded platform that no other test uses. */
@Tag("faults")
@Order(30)
class OutageIT {

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
    TestEnvironment environment = TestEnvironment.of(platform);
    scenario = Scenario.on(environment, environment);
  }

  @AfterEach
  void close() {
    platform.startKafka();
    platform.startPostgres();
    scenario.close();
  }

  @Test
  void aServiceThatStartsWithoutPostgresWaitsForIt() {
    platform.stopPostgres();
    try (Service service = scenario.startService()) {
      createAndPay(Scenario.in(Duration.ofSeconds(1)));
      assertThat(service.isReady()).isFalse();

      platform.startPostgres();

      assertDecided();
      service.awaitReady(true);
    }
  }

  @Test
  void aServiceThatStartsWithoutKafkaWaitsForIt() {
    createAndPay(Scenario.in(Duration.ofSeconds(1)));
    platform.stopKafka();
    try (Service service = scenario.startService()) {
      assertThat(service.isReady()).isFalse();

      platform.startKafka();

      assertDecided();
      service.awaitReady(true);
    }
  }

  private void createAndPay(Instant deadline) {
    scenario.create("paid", 0, deadline);
    scenario.create("unpaid", 0, deadline);
    scenario.pay("paid", 0);
  }

  @Test
  void aPostgresOutageDelaysDecisionsAndLosesNone() {
    try (Service service = scenario.startService()) {
      Instant deadline = Deadlines.afterCreation(scenario);
      createPending(deadline);
      platform.crashPostgres();
      scenario.pay("paid", 0);
      scenario.create("created-meanwhile", 1, deadline);
      service.awaitReady(false);
      await("failing steps").until(() -> service.gauge("order.timeout.failing") > 0);

      platform.startPostgres();

      assertDecided();
      scenario.outcomes().awaitCancelled("created-meanwhile");
      service.awaitReady(true);
      await("no failing steps").until(() -> service.gauge("order.timeout.failing") == 0);
      assertThat(service.counter("order.timeout.repaired")).isZero();
    }
  }

  @Test
  void aKafkaOutageDelaysDecisionsAndLosesNone() {
    try (Service service = scenario.startService()) {
      createPending(Scenario.in(Duration.ofHours(1)));
      scenario.pay("paid", 0);
      platform.stopKafka();
      service.awaitReady(false);

      Deadlines.passNow(scenario.database(), "unpaid", "paid");

      // Without Kafka, nobody can know whether the order was paid.
      await("the watermark to hold the order back")
          .until(() -> service.gauge("order.timeout.watermark.lag") > 0);
      assertThat(scenario.database().state("unpaid")).isEqualTo("PENDING");

      platform.startKafka();

      assertDecided();
      service.awaitReady(true);
      assertThat(service.counter("order.timeout.repaired")).isZero();
    }
  }

  @Test
  void anOutageOfBothDelaysDecisionsAndLosesNone() {
    try (Service service = scenario.startService()) {
      Instant deadline = Deadlines.afterCreation(scenario);
      createPending(deadline);
      scenario.pay("paid", 0);
      platform.stopPostgres();
      platform.stopKafka();
      service.awaitReady(false);

      platform.startKafka();
      platform.startPostgres();

      assertDecided();
      service.awaitReady(true);
    }
  }

  private void createPending(Instant deadline) {
    scenario.create("paid", 0, deadline);
    scenario.create("unpaid", 0, deadline);
    scenario.awaitState("unpaid", "PENDING");
  }

  private void assertDecided() {
    PublishedEvent event = scenario.outcomes().awaitCancelled("unpaid");
    assertThat(event.instant("cancelledAt"))
        .isAfterOrEqualTo(Objects.requireNonNull(scenario.database().deadline("unpaid")));
    scenario.awaitState("paid", "PAID");
    scenario.awaitQuiet();
    assertThat(scenario.outcomes().cancelled("paid")).isEmpty();
    assertThat(scenario.outcomes().cancelled("unpaid")).hasSize(1);
  }
}
