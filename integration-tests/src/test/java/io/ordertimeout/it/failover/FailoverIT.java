package io.ordertimeout.it.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.LogCapture;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.TestEnvironment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;

/** A failover to a standby under a running service. The standby may lack the latest commits. */
@Tag("faults")
@Order(20)
class FailoverIT extends FailoverFixture {

  private static final int PAID = 30;

  @Test
  void paymentsThatPostgresLostAreReadAgain() {
    List<String> paid = ids("paid-", PAID);
    List<String> unpaid = ids("unpaid-", Scenario.PARTITIONS);
    try (Service service = scenario().startService()) {
      createPending(paid);
      createPending(unpaid);
      scenario().awaitQuiet();
      pair().cutReplication();
      pay(paid);
      awaitStates(paid, "PAID");
      scenario().awaitQuiet();
      assertThat(
              pair()
                  .countOnStandby(
                      database(), "select count(*) from order_deadline where state = 'PAID'"))
          .isZero();

      pair().crashPrimary();
      pair().promote();
      List<String> all = new ArrayList<>(paid);
      all.addAll(unpaid);
      // The service comes back to a Postgres in which all orders are due and none is paid.
      passDeadlines(all);
      pair().connectClients();

      scenario().awaitAllDecided();
      assertThat(outcomes().cancelled())
          .extracting(PublishedEvent::key)
          .containsExactlyInAnyOrderElementsOf(unpaid);
      awaitStates(paid, "PAID");
      awaitStored();
      service.awaitReady(true);
      assertThat(outcomes().conflicts()).isEmpty();
      assertNothingHeld();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void ordersThatPostgresLostComeBack(boolean laterTraffic) {
    List<String> lost = ids("lost-", Scenario.PARTITIONS);
    try (Service service = scenario().startService()) {
      createPending(ids("before-", Scenario.PARTITIONS));
      scenario().awaitQuiet();
      pair().cutReplication();
      createPending(lost);
      scenario().awaitQuiet();

      pair().failOver();

      if (laterTraffic) {
        createPending(ids("after-", Scenario.PARTITIONS));
      }
      awaitStates(lost, "PENDING");
      awaitStored();
      passDeadlines(lost);
      lost.forEach(outcomes()::awaitCancelled);
      service.awaitReady(true);
      assertThat(outcomes().cancelled()).hasSize(lost.size());
      assertNothingHeld();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void nothingChangesWhenNothingIsLost(boolean failover) {
    List<String> cancelled = ids("cancelled-", Scenario.PARTITIONS);
    List<String> paid = ids("paid-", Scenario.PARTITIONS);
    List<String> unpaid = ids("unpaid-", Scenario.PARTITIONS);
    try (Service service = scenario().startService()) {
      createPending(cancelled);
      createPending(paid);
      createPending(unpaid);
      pair().setSynchronous(true);
      passDeadlines(cancelled);
      cancelled.forEach(outcomes()::awaitCancelled);
      scenario().awaitQuiet();
      if (failover) {
        pair().failOver();
      } else {
        pair().setSynchronous(false);
        pair().restartPrimary();
      }

      pay(paid);
      pay(cancelled);
      awaitStates(paid, "PAID");
      passDeadlines(unpaid);
      scenario().awaitAllDecided();
      service.awaitReady(true);
      List<String> expected = new ArrayList<>(cancelled);
      expected.addAll(unpaid);
      assertThat(outcomes().cancelled())
          .extracting(PublishedEvent::key)
          .containsExactlyInAnyOrderElementsOf(expected);
      cancelled.forEach(
          orderId -> {
            assertCancelledAs(outcomes().cancelled(orderId).get(0));
            assertOneConflict(orderId);
          });
      assertThat(outcomes().conflicts()).hasSize(cancelled.size());
      assertNothingHeld();
      assertThat(service.counter("order.timeout.repaired")).isZero();
    }
  }

  @Test
  @ExtendWith(LogCapture.class)
  void aStandbyAsDataSourceIsRefused(CapturedOutput output) {
    try (Service service = scenario().startService()) {
      createPending(List.of("order"));
      service.awaitReady(true);
    }
    database().makePendingDue();
    pair().awaitReplicated();
    TestEnvironment standby = pair().ofStandby(kafka());

    String url = Database.url(standby.jdbcUrl(), scenario().name());
    try (Service service = scenario().startService("spring.datasource.url", url)) {
      scenario().create("meanwhile", 0, Scenario.in(Duration.ZERO));
      await("the report of a read-only Postgres")
          .until(() -> output.getAll().contains("read-only"));

      assertThat(service.isReady()).isFalse();
      assertThat(outcomes().cancelled()).isEmpty();
    }
    try (Service service = scenario().startService()) {
      outcomes().awaitCancelled("order");
      outcomes().awaitCancelled("meanwhile");
      service.awaitReady(true);
      assertNothingHeld();
    }
  }
}
