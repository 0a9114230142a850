package io.ordertimeout.it.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Instance;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.TcpProxy;
import io.ordertimeout.it.traffic.Deadlines;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two instances that reach the promoted standby at different times. */
@Tag("faults")
@Order(20)
class InstancesFailoverIT extends FailoverFixture {

  private static final int PAID = 9;

  private static final String[] WITHOUT_RECONCILER = {"order-timeout.reconciler.interval", "1h"};

  // One of the variants closes an instance early.
  @SuppressWarnings("try")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theInstanceThatFailsOverLaterKnowsNoMoreThanPostgres(boolean comesBack) {
    List<String> paid = ids("paid-", PAID);
    List<String> unpaid = ids("unpaid-", Scenario.PARTITIONS);
    List<String> cancelled = ids("cancelled-", Scenario.PARTITIONS);
    try (TcpProxy later = TcpProxy.to(pair().primaryPort());
        Service one = scenario().startService()) {
      try (Service other = scenario().startService("spring.datasource.url", url(later))) {
        Instance.awaitShared(one, other);
        createPending(paid);
        createPending(unpaid);
        createPending(cancelled);
        scenario().awaitQuiet();
        pair().cutReplication();
        pay(paid);
        awaitStates(paid, "PAID");
        passDeadlines(cancelled);
        List<PublishedEvent> published =
            cancelled.stream().map(outcomes()::awaitCancelled).toList();
        scenario().awaitQuiet();

        pair().crashPrimary();
        pay(cancelled);
        pair().promote();
        List<String> due = new ArrayList<>(paid);
        due.addAll(unpaid);
        passDeadlines(due);
        pair().connectClients();

        if (comesBack) {
          // The shards of the first instance, while the other one is still without Postgres.
          await("progress of the first instance")
              .until(() -> unpaid.stream().anyMatch(id -> !outcomes().cancelled(id).isEmpty()));
          pair().connect(later);
        } else {
          other.close();
        }

        unpaid.forEach(outcomes()::awaitCancelled);
        awaitStored();
        scenario().awaitAllDecided();
        List<String> expected = new ArrayList<>(unpaid);
        expected.addAll(cancelled);
        assertThat(outcomes().cancelled())
            .extracting(PublishedEvent::key)
            .containsOnly(expected.toArray(String[]::new));
        awaitStates(paid, "PAID");
        published.forEach(this::assertCancelledAs);
        cancelled.forEach(this::assertOneConflict);
        assertThat(outcomes().conflicts())
            .extracting(PublishedEvent::key)
            .containsOnlyOnceElementsOf(cancelled);
        one.awaitReady(true);
        assertNothingHeld();
      }
    }
  }

  /** The order is in no wheel, and is only found if the wheels are rebuilt. */
  @Test
  void eachInstanceRebuildsItsWheelOnAnotherServerWhileEventsGoOnArriving() {
    try (Service one = scenario().startService(WITHOUT_RECONCILER);
        Service other = scenario().startService(WITHOUT_RECONCILER)) {
      Instance.awaitShared(one, other);
      scenario().awaitQuiet();
      try (Arrivals arrivals = new Arrivals(scenario())) {
        pair().crashPrimary();
        pair().promote();
        for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
          database()
              .execute(
                  """
                  insert into order_deadline (order_id, shard, state, created_at, deadline)
                  values ('%s', %d, 'PENDING', now(), now())
                  """
                      .formatted("planted-" + shard, shard));
        }
        pair().connectClients();

        for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
          outcomes().awaitCancelled("planted-" + shard);
        }
        arrivals.assertThatSomeCame();
      }
    }
  }

  /** Creates orders in all partitions without a pause. */
  private static final class Arrivals implements AutoCloseable {

    private final AtomicBoolean stopped = new AtomicBoolean();
    private final AtomicInteger created = new AtomicInteger();
    private final CompletableFuture<Void> end;

    Arrivals(Scenario scenario) {
      end =
          CompletableFuture.runAsync(
              () -> {
                Instant deadline = Scenario.in(Duration.ofHours(1));
                while (!stopped.get()) {
                  int number = created.getAndIncrement();
                  scenario.create("arrival-" + number, number % Scenario.PARTITIONS, deadline);
                }
              });
    }

    void assertThatSomeCame() {
      assertThat(end).isNotDone();
      assertThat(created).hasPositiveValue();
    }

    @Override
    public void close() {
      stopped.set(true);
      end.join();
    }
  }

  /** Nobody has ended the former primary, and an instance goes on to decide there. */
  @Test
  void decisionsOfAFormerPrimaryThatRunsOnStayTrue() {
    List<String> paid = ids("paid-", Scenario.PARTITIONS);
    List<String> unpaid = ids("unpaid-", Scenario.PARTITIONS);
    try (TcpProxy later = TcpProxy.to(pair().primaryPort());
        Service one = scenario().startService();
        Service other = scenario().startService("spring.datasource.url", url(later))) {
      Instance.awaitShared(one, other);
      Instant deadline = Deadlines.afterCreation(scenario()).plusSeconds(3);
      for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
        scenario().create(paid.get(partition), partition, deadline);
        scenario().create(unpaid.get(partition), partition, deadline);
      }
      awaitStates(unpaid, "PENDING");
      awaitStates(paid, "PENDING");
      pair().cutReplication();
      pay(paid);
      pair().promoteBesidePrimary();
      pair().connectClients();

      // Each instance decides the orders of its shards, on a server of its own.
      List<PublishedEvent> published = unpaid.stream().map(outcomes()::awaitCancelled).toList();
      pair().crashFormerPrimary();
      pay(unpaid);
      pair().connect(later);

      awaitStates(unpaid, "CANCELLED");
      awaitStates(paid, "PAID");
      awaitStored();
      published.forEach(this::assertCancelledAs);
      unpaid.forEach(this::assertOneConflict);
      assertThat(outcomes().cancelled())
          .extracting(PublishedEvent::key)
          .containsOnly(unpaid.toArray(String[]::new));
      other.awaitReady(true);
      assertNothingHeld();
    }
  }

  private String url(TcpProxy proxy) {
    return Database.url(pair().through(proxy, kafka()).jdbcUrl(), scenario().name());
  }
}
