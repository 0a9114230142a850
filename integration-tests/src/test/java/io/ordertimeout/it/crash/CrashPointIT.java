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
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A crash of the service between any two of its steps, and the recovery by its successor. */
@Tag("faults")
@Order(10)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CrashPointIT {

  private static final int CRASHING_AT_ONCE = 2;

  private final ExecutorService threads = Executors.newFixedThreadPool(CRASHING_AT_ONCE);
  private final Map<CrashPoint, Future<Crash>> crashes = new EnumMap<>(CrashPoint.class);

  /** The scenario that a crashed service left behind. */
  private record Crash(Scenario scenario, SampleOrders orders) {}

  // Crash ahead of the tests, so that most sessions in the consumer group expire meanwhile.
  @BeforeAll
  void crashEverywhere() {
    for (CrashPoint point : CrashPoint.values()) {
      crashes.put(point, threads.submit(() -> crash(point)));
    }
  }

  private static Crash crash(CrashPoint point) {
    Scenario scenario = Scenario.create();
    try {
      SampleOrders orders = SampleOrders.publish(scenario);
      if (point == CrashPoint.REBUILDING) {
        // A rebuild needs stored orders.
        CrashingProcess.run(scenario, CrashPoint.STORED, orders::payLate);
      }
      CrashingProcess.run(scenario, point, orders::payLate, "order-timeout.wheel.load-page", "1");
      return new Crash(scenario, orders);
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
  void noOrderIsLostOrCancelledEarlyOrDecidedTwice(CrashPoint point)
      throws ExecutionException, InterruptedException {
    Crash crash = Objects.requireNonNull(crashes.get(point)).get();
    try (Scenario scenario = crash.scenario()) {
      assertCrashedAt(point, scenario);
      try (Service service = scenario.startService()) {
        crash.orders().awaitOutcome();
        crash.orders().assertOutcome();
        assertThat(service.gauge("order.timeout.pending")).isZero();
      }
    }
  }

  /** Checks that the crash point is where its name says. */
  private static void assertCrashedAt(CrashPoint point, Scenario scenario) {
    Database database = scenario.database();
    switch (point) {
      case BEFORE_STORE, ORDERS_WRITTEN -> assertThat(database.pending()).isZero();
      case PAYMENTS_WRITTEN -> assertThat(database.states()).doesNotContainValue("PAID");
      case STORED, BEFORE_OFFSET_COMMIT, OFFSETS_COMMITTED, REBUILDING ->
          assertThat(database.states()).isNotEmpty();
      case BEFORE_DECISION -> {
        assertThat(database.pending()).isPositive();
        assertThat(database.unpublished()).isZero();
      }
      case DECIDED, BEFORE_SEND, ACKNOWLEDGED_UNSEEN, BEFORE_PUBLICATION_RECORDED ->
          assertThat(database.unpublished()).isPositive();
      case PUBLICATION_RECORDED -> assertThat(database.states()).containsValue("CANCELLED");
      case CONFLICT_STORED, CONFLICT_ACKNOWLEDGED -> {
        assertThat(database.conflicts()).isPositive();
        assertThat(database.unpublished()).isPositive();
      }
      case DEAD_LETTER_SENT ->
          await("dead letter").until(() -> !scenario.outcomes().deadLetters().isEmpty());
    }
  }
}
