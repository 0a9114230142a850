package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Requests of operators that Postgres does not answer delay no decision. */
class BusyApiIT {

  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final int REQUESTS = 20;

  private static final String WAITING_FOR_LOCKS =
      """
      select count(*) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'
        and query like '%from operator_action%'
      """;

  @Test
  void aDueOrderIsCancelledWhileRequestsWaitForLocks() throws SQLException {
    ExecutorService clients = Executors.newFixedThreadPool(REQUESTS);
    try (Scenario scenario = Scenario.create();
        Service service = scenario.startService();
        Connection connection = scenario.database().connect();
        Statement lock = connection.createStatement()) {
      service.awaitReady(true);
      connection.setAutoCommit(false);
      lock.execute("lock table operator_action in access exclusive mode");
      Http viewer = service.http().viewer();
      List<CompletableFuture<Integer>> requests =
          IntStream.range(0, REQUESTS)
              .mapToObj(
                  i ->
                      CompletableFuture.supplyAsync(
                          () -> viewer.get("/api/v1/audit").status(), clients))
              .toList();
      await("requests that wait for the lock")
          .atMost(PATIENCE)
          .until(() -> scenario.database().count(WAITING_FOR_LOCKS) >= 4);

      scenario.create("due", 0, Scenario.in(Duration.ZERO));

      await("the cancellation")
          .atMost(PATIENCE)
          .until(() -> !scenario.outcomes().cancelled("due").isEmpty());
      assertThat(scenario.database().count(WAITING_FOR_LOCKS)).isPositive();
      assertThat(CompletableFuture.anyOf(requests.toArray(CompletableFuture[]::new)).join())
          .isEqualTo(503);
      connection.rollback();
      assertThat(requests.stream().map(CompletableFuture::join))
          .contains(200)
          .allMatch(status -> status == 200 || status == 503);
      assertThat(viewer.get("/api/v1/audit").status()).isEqualTo(200);
    } finally {
      clients.shutdownNow();
    }
  }
}
