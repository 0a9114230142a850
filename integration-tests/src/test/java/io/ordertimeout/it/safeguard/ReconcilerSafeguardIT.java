package io.ordertimeout.it.safeguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/**
 * A difference between the wheel and Postgres counts only if it lasts: an order that has changed
 * between the two looks may differ in another way at the second one, because it is changing again.
 */
class ReconcilerSafeguardIT {

  private static final Duration PATIENCE = Duration.ofMinutes(1);

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();

  @Test
  void aDifferenceOfAnotherKindIsNoneThatLasts() throws InterruptedException {
    Steps steps = new Steps();
    try (Service service =
        scenario.startService(
            List.of(StatementInterceptor.install(steps)),
            "order-timeout.reconciler.interval",
            "1s",
            "order-timeout.reconciler.confirm-after",
            "100ms")) {
      service.awaitReady(true);
      try {
        passOneShard(service, steps);
      } finally {
        steps.end();
      }
    }
  }

  private void passOneShard(Service service, Steps steps) throws InterruptedException {
    steps.begin();
    plantPending();
    String statement = steps.next();
    while (!readsPending(statement)) {
      steps.go();
      statement = steps.next();
    }
    steps.go();
    assertThat(readsPending(steps.next())).as("the armed orders").isFalse();
    steps.go();
    // An order was not in the wheel at the first look, so there is a second one.
    assertThat(readsPending(steps.next())).as("the second look").isFalse();

    // Now they are in the wheel, and no longer pending.
    Instant deadline = Scenario.in(Duration.ofHours(1));
    for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
      scenario.create("order-" + shard, shard, deadline);
    }
    await("the wheels").until(() -> service.gauge("order.timeout.pending") == Scenario.PARTITIONS);
    database.execute("update order_deadline set state = 'CLOSED', decided_at = now()");
    steps.go();

    assertThat(readsPending(steps.next())).as("the next shard").isTrue();
    assertThat(service.counter("order.timeout.repaired")).isZero();
  }

  /** Whether a statement begins the comparison of a shard. */
  private static boolean readsPending(String statement) {
    return statement.contains("order by deadline, id");
  }

  private void plantPending() {
    for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
      database.execute(
          """
          insert into order_deadline (order_id, shard, state, created_at, deadline)
          values ('order-%d', %d, 'PENDING', now(), now() + '1h')
          """
              .formatted(shard, shard));
    }
  }

  /** Lets the reconciler execute one statement at a time. */
  private static final class Steps implements StatementInterceptor {

    private final BlockingQueue<String> statements = new LinkedBlockingQueue<>();
    private final Semaphore permits = new Semaphore(0);
    private volatile boolean stepping;

    @Override
    public void before(String sql, Connection connection) {
      if (stepping && Thread.currentThread().getName().equals("reconciler")) {
        statements.add(sql);
        permits.acquireUninterruptibly();
      }
    }

    /** Stops the reconciler before its next statement. */
    void begin() throws InterruptedException {
      stepping = true;
      statements.add(next());
    }

    /** Returns the statement before which it has stopped. */
    String next() throws InterruptedException {
      return Objects.requireNonNull(
          statements.poll(PATIENCE.toMillis(), TimeUnit.MILLISECONDS), "the reconciler is idle");
    }

    void go() {
      permits.release();
    }

    void end() {
      stepping = false;
      permits.release(1_000);
    }
  }
}
