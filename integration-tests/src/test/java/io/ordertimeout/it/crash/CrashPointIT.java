package io.ordertimeout.it.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The service dead between any two of its steps, and the one that comes after it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CrashPointIT {

  private static final int DYING_AT_ONCE = 2;

  private final ExecutorService threads = Executors.newFixedThreadPool(DYING_AT_ONCE);
  private final Map<CrashPoint, Future<Death>> deaths = new EnumMap<>(CrashPoint.class);

  /** What a dead service left. */
  private record Death(Scenario scenario, KnownOrders orders) {}

  // Ahead of the tests, so that Kafka has noticed each death by the time of its test.
  @BeforeAll
  void dieEverywhere() {
    for (CrashPoint point : CrashPoint.values()) {
      deaths.put(point, threads.submit(() -> die(point)));
    }
  }

  private static Death die(CrashPoint point) {
    Scenario scenario = Scenario.create();
    try {
      KnownOrders orders = KnownOrders.publish(scenario);
      if (point == CrashPoint.REBUILDING) {
        // Somebody has to have stored what is to be loaded.
        DyingProcess.run(scenario, CrashPoint.STORED, orders::payLate);
      }
      DyingProcess.run(scenario, point, orders::payLate, "order-timeout.wheel.load-page", "1");
      return new Death(scenario, orders);
    } catch (RuntimeException | AssertionError e) {
      scenario.close();
      throw e;
    }
  }

  @AfterAll
  void close() throws InterruptedException {
    threads.shutdownNow();
    assertThat(threads.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void nothingIsLostEarlyOrDecidedTwice(CrashPoint point)
      throws ExecutionException, InterruptedException {
    Death death = Objects.requireNonNull(deaths.get(point)).get();
    try (Scenario scenario = death.scenario()) {
      assertDiedThere(point, scenario);
      try (Service service = scenario.startService()) {
        death.orders().awaitOutcome();
        death.orders().assertOutcome();
        assertThat(service.gauge("order.timeout.pending")).isZero();
      }
    }
  }

  /** That the point is where its name says. */
  private static void assertDiedThere(CrashPoint point, Scenario scenario) {
    Database database = scenario.database();
    switch (point) {
      case BEFORE_STORE, ORDERS_WRITTEN -> assertThat(database.pending()).isZero();
      case PAYMENTS_WRITTEN -> assertThat(database.states()).doesNotContainValue("PAID");
      case STORED, BEFORE_OFFSET_COMMIT, OFFSETS_COMMITTED, REBUILDING ->
          assertThat(database.states()).isNotEmpty();
      case BEFORE_DECISION -> {
        assertThat(database.pending()).isPositive();
        assertThat(database.outboxRows()).isZero();
      }
      case DECIDED, BEFORE_SEND, ACKNOWLEDGED_UNHEARD, BEFORE_OUTBOX_DELETE ->
          assertThat(database.outboxRows()).isPositive();
      case OUTBOX_DELETED -> assertThat(database.states()).containsValue("CANCELLED");
      case CONFLICT_STORED, CONFLICT_ACKNOWLEDGED -> {
        assertThat(database.conflicts()).isPositive();
        assertThat(database.outboxRows()).isPositive();
      }
      case DEAD_LETTER_SENT ->
          await("dead letter").until(() -> !scenario.outcomes().deadLetters().isEmpty());
    }
  }
}
