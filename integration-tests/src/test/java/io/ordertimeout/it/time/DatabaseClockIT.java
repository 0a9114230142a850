package io.ordertimeout.it.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Postgres's clock apart from this machine's by an hour, which is the same as this machine's clock
 * being wrong by as much, and jumping. Its functions of time are replaced for one database by some
 * that add what a table says.
 */
class DatabaseClockIT {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();

  @BeforeEach
  void replaceTheClock() {
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

  @AfterEach
  void close() {
    scenario.close();
  }

  @Test
  void aMachineThatIsAnHourAheadDoesNotCancelEarly() {
    setPostgresAhead(Duration.ofHours(-1));
    try (Service service = scenario.startService()) {
      Instant soonByPostgres = Scenario.in(Duration.ofSeconds(3)).minus(Duration.ofHours(1));
      Instant soonByThisMachine = Scenario.in(Duration.ofSeconds(1));
      scenario.create("due", 0, soonByPostgres);
      scenario.create("not-due", 0, soonByThisMachine);

      PublishedEvent event = scenario.outcomes().awaitCancelled("due");

      assertThat(event.instant("cancelledAt"))
          .isBetween(soonByPostgres, soonByPostgres.plusSeconds(5));
      assertThat(database.state("not-due")).isEqualTo("PENDING");
      assertThat(service.gauge("order.timeout.clock.offset")).isBetween(-3601.0, -3599.0);
    }
  }

  @Test
  void aMachineThatIsAnHourBehindDoesNotCancelLate() {
    setPostgresAhead(Duration.ofHours(1));
    // By Postgres's clock, records of just now are an hour old.
    try (Service service = scenario.startService("order-timeout.intake.start-back", "2h")) {
      Instant soonByPostgres = Scenario.in(Duration.ofSeconds(3)).plus(Duration.ofHours(1));
      scenario.create("due", 0, soonByPostgres);

      PublishedEvent event = scenario.outcomes().awaitCancelled("due");

      assertThat(event.instant("cancelledAt"))
          .isBetween(soonByPostgres, soonByPostgres.plusSeconds(5));
      assertThat(service.gauge("order.timeout.clock.offset")).isBetween(3599.0, 3601.0);
    }
  }

  @Test
  void aClockThatJumpsBackUnderARunningServiceMakesNothingEarly() {
    try (Service service = scenario.startService()) {
      Instant deadline = Scenario.in(Duration.ofSeconds(4));
      scenario.create("due", 0, deadline);
      scenario.awaitState("due", "PENDING");
      setPostgresAhead(Duration.ofSeconds(-5));

      PublishedEvent event = scenario.outcomes().awaitCancelled("due");

      assertThat(event.instant("cancelledAt")).isAfterOrEqualTo(deadline);
      // By this machine's clock it is at least those five seconds late.
      assertThat(event.appendedAt()).isAfter(deadline.plusSeconds(4));
      await("the offset")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.clock.offset") < -4);
    }
  }

  @Test
  void aClockThatJumpsAheadUnderARunningServiceIsFollowed() {
    try (Service service = scenario.startService()) {
      Instant deadline = Scenario.in(Duration.ofHours(1)).plusSeconds(2);
      scenario.create("due", 0, deadline);
      scenario.awaitState("due", "PENDING");
      setPostgresAhead(Duration.ofHours(1));

      PublishedEvent event = scenario.outcomes().awaitCancelled("due");

      assertThat(event.instant("cancelledAt")).isAfterOrEqualTo(deadline);
      assertThat(service.gauge("order.timeout.clock.offset")).isBetween(3599.0, 3601.0);
    }
  }

  private void setPostgresAhead(Duration by) {
    database.execute("update apart.offset_of_clock set by = ?::interval", by.toString());
  }
}
