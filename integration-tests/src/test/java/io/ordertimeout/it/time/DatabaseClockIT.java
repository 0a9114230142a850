package io.ordertimeout.it.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.UnreadRecords;
import io.ordertimeout.it.traffic.Deadlines;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A Postgres whose clock differs from this machine's by an hour, or jumps. To the service, that
 * equals a wrong clock of its own machine. The time functions of one database are replaced by
 * functions that add an offset from a table.
 */
@Order(25)
class DatabaseClockIT {

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();

  @BeforeEach
  void replaceTimeFunctions() {
    database.execute("create schema apart");
    database.execute("create table apart.offset_of_clock (by interval not null)");
    database.execute("insert into apart.offset_of_clock values ('0')");
    for (String function : new String[] {"clock_timestamp", "now"}) {
      database.execute(
          """
          create function apart.%1$s() returns timestamptz language sql volatile as
          $$ select pg_catalog.%1$s() + by from apart.offset_of_clock $$
          """
              .formatted(function));
    }
    database.execute(
        "alter database " + scenario.name() + " set search_path = public, apart, pg_catalog");
  }

  @Test
  void aMachineThatIsAnHourAheadDoesNotCancelEarly() {
    setPostgresAhead(Duration.ofHours(-1));
    try (Service service = scenario.startService()) {
      Instant soonByPostgres = Scenario.in(Duration.ofSeconds(2)).minus(Duration.ofHours(1));
      Instant passedByThisMachine = Scenario.in(Duration.ofSeconds(-1));
      scenario.create("not-due", 0, passedByThisMachine);
      scenario.create("due", 0, soonByPostgres);

      PublishedEvent event = scenario.outcomes().awaitCancelled("due");

      assertCancelledByPostgresClock(event, soonByPostgres);
      assertThat(database.state("not-due")).isEqualTo("PENDING");
      assertThat(service.gauge("order.timeout.clock.offset")).isBetween(-3660.0, -3540.0);
    }
  }

  @Test
  @Tag("faults")
  void aMachineThatIsAnHourBehindDoesNotCancelLate() {
    setPostgresAhead(Duration.ofHours(1));
    try (Service service = scenario.startService()) {
      Instant soonByPostgres = Scenario.in(Duration.ofSeconds(2)).plus(Duration.ofHours(1));
      scenario.create("due", 0, soonByPostgres);

      PublishedEvent event = scenario.outcomes().awaitCancelled("due");

      assertCancelledByPostgresClock(event, soonByPostgres);
      assertThat(service.gauge("order.timeout.clock.offset")).isBetween(3540.0, 3660.0);
    }
  }

  @Test
  @Tag("faults")
  void aClockThatJumpsBackMakesNothingEarly() {
    try (Service service = scenario.startService()) {
      Instant deadline = Deadlines.afterCreation(scenario);
      scenario.create("due", 0, deadline);
      scenario.awaitState("due", "PENDING");
      setPostgresAhead(Duration.ofSeconds(-5));

      PublishedEvent event = scenario.outcomes().awaitCancelled("due");

      assertThat(event.instant("cancelledAt")).isAfterOrEqualTo(deadline);
      // By this machine's clock, the cancellation is at least those five seconds late.
      assertThat(event.appendedAt()).isAfter(deadline.plusSeconds(4));
      await("the offset").until(() -> service.gauge("order.timeout.clock.offset") < -4);
    }
  }

  @Test
  @Tag("faults")
  void aClockThatCameBackLetsNoUnreadPaymentBeOverridden() {
    UnreadRecords payments = new UnreadRecords(scenario.topics().paid());
    try (Service service = scenario.startService(List.of(payments.interceptor()))) {
      playJumpAheadAndBack();
      await("the service to notice").until(() -> service.gauge("order.timeout.clock.offset") < 60);

      payments.block();
      Instant deadline = Scenario.in(Duration.ofSeconds(3));
      Instant appended = Instant.ofEpochMilli(scenario.pay("paid", 0).timestamp());
      scenario.create("paid", 0, deadline);
      scenario.create("unpaid", 0, deadline);
      scenario.awaitPast(deadline);
      // Either nothing is decided until the payment is read, or the orders are decided without it.
      await("the orders to be cancelled, or to wait for the payment")
          .until(
              () ->
                  !scenario.outcomes().cancelled("unpaid").isEmpty()
                      || service.gauge("order.timeout.watermark.lag") > 1);
      payments.unblock();

      scenario.outcomes().awaitCancelled("unpaid");
      scenario.awaitQuiet();
      assertThat(appended).isBefore(deadline);
      assertThat(scenario.outcomes().cancelled("paid")).isEmpty();
      scenario.awaitState("paid", "PAID");
    }
  }

  /**
   * Orders arrive after the clock has come back, but before the service notices it: to the service,
   * they are due.
   */
  @ParameterizedTest
  @Tag("faults")
  @ValueSource(booleans = {false, true})
  void aClockThatCameBackDelaysNothing(boolean behindAnother) {
    try (Service service = scenario.startService()) {
      playJumpAheadAndBack();

      if (behindAnother) {
        scenario.create("due-in-an-hour-too", 0, Scenario.in(Duration.ofMinutes(30)));
        scenario.awaitState("due-in-an-hour-too", "PENDING");
      }
      scenario.create("due", 0, Scenario.in(Duration.ofSeconds(1)));

      scenario.outcomes().awaitCancelled("due");
      assertThat(scenario.outcomes().cancelled("due-in-an-hour-too")).isEmpty();
      assertThat(service.counter("order.timeout.repaired")).isZero();
    }
  }

  /** Moves Postgres's clock an hour ahead until an order is cancelled by it. */
  private void playJumpAheadAndBack() {
    scenario.create("due-in-an-hour", 0, Scenario.in(Duration.ofMinutes(30)));
    scenario.awaitState("due-in-an-hour", "PENDING");
    setPostgresAhead(Duration.ofHours(1));
    scenario.outcomes().awaitCancelled("due-in-an-hour");
    setPostgresAhead(Duration.ZERO);
  }

  @Test
  @Tag("faults")
  void theServiceFollowsAClockThatJumpsAhead() {
    try (Service service = scenario.startService()) {
      Instant deadline = Scenario.in(Duration.ofHours(1)).minusSeconds(2);
      scenario.create("due", 0, deadline);
      scenario.awaitState("due", "PENDING");
      setPostgresAhead(Duration.ofHours(1));

      PublishedEvent event = scenario.outcomes().awaitCancelled("due");

      assertThat(event.instant("cancelledAt")).isAfterOrEqualTo(deadline);
      assertThat(service.gauge("order.timeout.clock.offset")).isBetween(3540.0, 3660.0);
    }
  }

  /** Checks that the service followed Postgres's clock, an hour apart, and not its machine's. */
  private static void assertCancelledByPostgresClock(PublishedEvent event, Instant deadline) {
    assertThat(event.instant("cancelledAt"))
        .isBetween(deadline, deadline.plus(Duration.ofMinutes(5)));
  }

  private void setPostgresAhead(Duration by) {
    database.execute("update apart.offset_of_clock set by = ?::interval", by.toString());
  }
}
