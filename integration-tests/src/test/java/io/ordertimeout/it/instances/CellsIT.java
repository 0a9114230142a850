package io.ordertimeout.it.instances;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Two cells on the same servers: each has its own topics, consumer group and database. */
class CellsIT {

  private static final Duration SOON = Duration.ofSeconds(1);
  private static final Duration MUCH_LATER = Duration.ofHours(1);

  @Test
  void aCellIsNotAffectedByAnother() throws SQLException {
    try (Scenario north = Scenario.create();
        Scenario south = Scenario.create();
        Service northern = north.startService();
        Service southern = south.startService()) {
      northern.awaitReady(true);
      southern.awaitReady(true);

      assertOrdersOfTheSameIdAreDistinct(north, south);
      assertAPausePausesOneCell(northern, north, south);
      assertALockedTableDelaysOneCell(north, south);
      southern.awaitReady(true);
    }
  }

  private static void assertOrdersOfTheSameIdAreDistinct(Scenario north, Scenario south) {
    north.create("same", 0, Scenario.in(MUCH_LATER));
    north.awaitState("same", "PENDING");
    south.create("same", 0, Scenario.in(SOON));

    south.outcomes().awaitCancelled("same");
    assertThat(north.database().state("same")).isEqualTo("PENDING");
  }

  private static void assertAPausePausesOneCell(Service northern, Scenario north, Scenario south) {
    String pause = northern.pause(Map.of("moveDeadlines", false));
    north.create("paused", 0, Scenario.in(SOON));
    south.create("not paused", 0, Scenario.in(SOON));

    south.outcomes().awaitCancelled("not paused");
    assertThat(north.database().state("paused")).isNotEqualTo("CANCELLED");
    northern.endPause(pause);
    north.outcomes().awaitCancelled("paused");
  }

  private static void assertALockedTableDelaysOneCell(Scenario north, Scenario south)
      throws SQLException {
    try (Connection connection = north.database().connect();
        Statement lock = connection.createStatement()) {
      connection.setAutoCommit(false);
      lock.execute("lock table order_deadline in access exclusive mode");
      north.create("delayed", 0, Scenario.in(SOON));
      south.create("in time", 0, Scenario.in(SOON));

      south.outcomes().awaitCancelled("in time");
      assertThat(north.outcomes().cancelled("delayed")).isEmpty();
      connection.rollback();
    }
    north.outcomes().awaitCancelled("delayed");
  }
}
