package io.ordertimeout.it.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.traffic.Deadlines;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Errors, not exceptions, in the service's threads: each reports a failing step while they last and
 * works again afterwards. The tests share one service.
 */
@Tag("faults")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ErrorsInLoopsIT {

  /** Where errors occur, and the steps that report them. */
  @SuppressWarnings("ImmutableEnumChecker")
  enum Place {
    DECISION("set state = 'CANCELLED'", "expiry"),
    HEARTBEAT("insert into shard_heartbeat", "heartbeat"),
    WATERMARK("listOffsets", "payment-watermark", "heartbeat"),
    SENDING("send", "outbox-relay"),
    PUBLICATION("update outbox", "outbox-relay"),
    POLL("poll", "intake-0"),
    STORING("update intake_position", "intake-0"),
    BACKGROUND(
        "select", "change-watch", "operator-changes", "overdue-orders", "purge", "suspensions"),
    CHANGES("md5(", "change-watch");

    private final String call;
    private final List<String> steps;

    Place(String call, String... steps) {
      this.call = call;
      this.steps = List.of(steps);
    }
  }

  private final ErrorInjector errors = new ErrorInjector();
  @AutoClose private final Scenario scenario = Scenario.create();
  private final Service service =
      scenario.startService(
          errors.interceptors(),
          "order-timeout.deadline.purge-interval",
          "1s",
          "order-timeout.reconciler.interval",
          "1s",
          // What is published is not found by the periodic search.
          "order-timeout.outbox.sweep-interval",
          "1h");

  @BeforeEach
  void awaitReady() {
    service.awaitReady(true);
  }

  @AfterEach
  void restore() {
    errors.restore();
  }

  @ParameterizedTest
  @EnumSource
  void aStepThatMeetsErrorsFailsVisiblyAndRecovers(Place place) {
    String due = "due-" + place;
    String created = "created-" + place;
    scenario.createPending(due, 0);

    errors.fail(place.call);
    Deadlines.passNow(scenario.database(), due);
    scenario.create(created, 1, Scenario.in(Duration.ofHours(1)));
    for (String step : place.steps) {
      await(step + " to fail")
          .until(() -> service.gauge("order.timeout.failing", "step", step) > 0);
    }
    assertThat(service.isReady()).isFalse();
    assertThat(service.management().get("/actuator/health/liveness").status()).isEqualTo(200);
    errors.restore();

    scenario.outcomes().awaitCancelled(due);
    scenario.awaitState(created, "PENDING");
    service.awaitReady(true);
    assertThat(service.gauge("order.timeout.failing")).isZero();
    assertThat(service.counter("order.timeout.repaired")).isZero();
  }

  @Test
  void changesAreNoticedWhileTheirWatchMeetsErrors() {
    errors.fail(Place.CHANGES.call);
    await("the watch to fail")
        .until(() -> service.gauge("order.timeout.failing", "step", "change-watch") > 0);

    scenario
        .database()
        .execute(
            "insert into suspension (placed_by_kind, placed_by, reason, moves_deadlines, ends_at)"
                + " values ('OPERATOR', 'test', 'test', false, now() + interval '1 h')");
    awaitPauses(1);
    scenario.database().execute("update suspension set ended_at = now()");
    awaitPauses(0);
  }

  private void awaitPauses(int count) {
    await(count + " pauses")
        .until(() -> service.gauge("order.timeout.expiry.paused", "by", "operator") == count);
  }

  @Test
  void aCancellationWhoseDecisionWasNotAcknowledgedIsPublishedSoon() {
    scenario.createPending("lost", 0);
    errors.loseResult("set state = 'CANCELLED'");

    Deadlines.passNow(scenario.database(), "lost");

    scenario.outcomes().awaitCancelled("lost");
    scenario.awaitQuiet();
  }
}
