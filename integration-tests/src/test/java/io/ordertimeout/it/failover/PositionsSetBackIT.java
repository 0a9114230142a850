package io.ordertimeout.it.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.traffic.Deadlines;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Positions that somebody sets back in Postgres under a running service. */
@Tag("faults")
class PositionsSetBackIT {

  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private Scenario scenario;
  private Database database;

  @BeforeEach
  void open() {
    scenario = Scenario.create();
    database = scenario.database();
  }

  @AfterEach
  void close() {
    scenario.close();
  }

  @Test
  void theirRecordsAreReadAgain() {
    try (Service service = scenario.startService()) {
      scenario.createPending("paid", 0);
      scenario.createPending("lost", 1);
      scenario.pay("paid", 0);
      scenario.awaitState("paid", "PAID");
      scenario.awaitQuiet();

      forgetAndSetBack();

      await("the lost order")
          .atMost(PATIENCE)
          .until(() -> "PENDING".equals(database.state("lost")));
      scenario.awaitState("paid", "PAID");
      scenario.passDeadline("unpaid", 0);
      service.awaitReady(true);
      assertThat(scenario.outcomes().cancelled("paid")).isEmpty();
      assertThat(database.count("select count(*) from expiry_hold")).isZero();
    }
  }

  /** As a loss leaves Postgres: an order is unknown, another one is due and not paid. */
  private void forgetAndSetBack() {
    database.execute(
        """
        with lost as (
          delete from order_deadline where order_id = 'lost'
        ), unpaid as (
          update order_deadline
          set state = 'PENDING', decided_at = null, decided_by = null, payment_id = null,
            paid_at = null
          where order_id = 'paid'
        )
        update intake_position set next_offset = 0
        """);
    Deadlines.passNow(database, "paid");
  }
}
