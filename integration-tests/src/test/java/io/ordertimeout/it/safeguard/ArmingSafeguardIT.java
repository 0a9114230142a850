package io.ordertimeout.it.safeguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Scenario;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Orders that another transaction has locked when they are due, so that they cannot be decided at
 * once and have to be armed again. The reconciler is removed where it would hide a missing timer.
 */
@Tag("faults")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(60)
class ArmingSafeguardIT {

  private static final int ORDERS = 10;

  /** Long enough for a decision that comes, and short for one that never will. */
  private static final Duration PATIENCE_FOR_LOST_ORDERS = Duration.ofSeconds(4);

  private final AtomicInteger decisions = new AtomicInteger();
  private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();
  private double repairedBefore;
  private volatile CountDownLatch decisionsAllowed = new CountDownLatch(0);
  private final SabotagedService sabotaged =
      SabotagedService.start(
          scenario,
          List.of(decisionsInterceptor()),
          "order-timeout.reconciler.interval",
          "1s",
          "order-timeout.reconciler.confirm-after",
          "500ms");

  private BeanPostProcessor decisionsInterceptor() {
    return StatementInterceptor.install(
        new StatementInterceptor() {
          @Override
          public void before(String sql, Connection connection) throws SQLException {
            if (sql.contains(SafeguardRemover.DECISION)) {
              awaitAllowed();
            }
          }

          @Override
          public void after(String sql, Connection connection) {
            if (sql.contains(SafeguardRemover.DECISION)) {
              decisions.incrementAndGet();
            }
          }
        });
  }

  private void awaitAllowed() throws SQLException {
    try {
      decisionsAllowed.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SQLException(e);
    }
  }

  @AfterEach
  void restore() {
    decisionsAllowed.countDown();
    sabotaged.oracle().disturbed();
    sabotaged.safeguards().restoreAll();
  }

  @AfterAll
  void close() {
    sabotaged.close();
  }

  @Test
  void withAllOtherSafeguardsTheyAreCancelledOnceUnlocked() throws SQLException {
    run("all-", Safeguard.RECONCILER);

    assertCancelled(sabotaged.judge("all-"));
  }

  @Test
  void withoutRearmingTheyStayPendingUntilTheReconcilerArmsThem() throws SQLException {
    run("rearming-", Safeguard.RECONCILER, Safeguard.REARMING);

    assertCancelled(judgeOnceReconciled("rearming-"));
  }

  @Test
  void withoutArmingOfRegisteredOrdersTheyStayPendingUntilTheReconcilerArmsThem()
      throws SQLException {
    // Nothing excuses lateness.
    sabotaged.oracle().restored(Duration.ZERO);
    run("registered-", Safeguard.RECONCILER, Safeguard.ARMING_OF_REGISTERED);

    assertThat(judgeOnceReconciled("registered-").violationCounts())
        .isEqualTo(Map.of(Kind.LATE, ORDERS));
  }

  private void run(String prefix, Safeguard... removed) throws SQLException {
    sabotaged.safeguards().remove(removed);
    decisionsAllowed = new CountDownLatch(1);
    Instant deadline = Scenario.in(Duration.ofSeconds(1));
    sabotaged.create(prefix, ORDERS, deadline);
    await("registration").until(() -> sabotaged.count(prefix, "PENDING") == ORDERS);
    try (Connection other = database.connect();
        Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      statement.execute("select from order_deadline for update");
      int before = decisions.get();
      decisionsAllowed.countDown();
      // Orders that are not armed are not decided at all.
      await("a decision of locked orders")
          .until(() -> decisions.get() > before || database.now().isAfter(deadline.plusSeconds(2)));
    }
  }

  private static void assertCancelled(Verdict verdict) {
    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.inState("CANCELLED")).isEqualTo(ORDERS);
  }

  private Verdict judgeOnceReconciled(String prefix) {
    Verdict lost = sabotaged.oracle().judge(PATIENCE_FOR_LOST_ORDERS, prefix);
    assertThat(lost.violationCounts())
        .as("%s", lost)
        .isEqualTo(Map.of(Kind.LOST, ORDERS, Kind.NOT_QUIET, 1));
    assertThat(lost.inState("PENDING")).isEqualTo(ORDERS);
    double repaired = sabotaged.service().counter("order.timeout.repaired");
    assertThat(repaired).isEqualTo(repairedBefore);

    sabotaged.safeguards().restore(Safeguard.RECONCILER);

    Verdict verdict = sabotaged.judge(prefix);
    assertThat(verdict.inState("CANCELLED")).isEqualTo(ORDERS);
    assertThat(sabotaged.service().counter("order.timeout.repaired") - repaired).isEqualTo(ORDERS);
    repairedBefore += ORDERS;
    return verdict;
  }
}
