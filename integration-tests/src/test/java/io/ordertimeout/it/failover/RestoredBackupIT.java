package io.ordertimeout.it.failover;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A Postgres that was restored from an earlier copy. */
@Tag("faults")
@Order(20)
class RestoredBackupIT extends FailoverFixture {

  private static final List<String> PAID = ids("paid-", Scenario.PARTITIONS);
  private static final List<String> UNPAID = ids("unpaid-", Scenario.PARTITIONS);
  private static final List<String> CANCELLED = ids("cancelled-", Scenario.PARTITIONS);
  private static final List<String> LATER = ids("later-", Scenario.PARTITIONS);

  /** The server is replaced by a copy of its files. */
  @Test
  void aServerRestoredFromACopyOfItsFilesIsALoss() {
    createAndStop();
    pair().backUp();
    List<PublishedEvent> published = decideAndStop();

    pair().restoreBackup();
    pair().connectClients();

    assertNothingIsForgotten(published);
  }

  /** The server stays the same: only its database is replaced, as by {@code pg_restore}. */
  @Test
  void aDatabaseRestoredFromADumpIsALoss() {
    createAndStop();
    String dump = scenario().name() + "_dump";
    copyDatabase(scenario().name(), dump);
    List<PublishedEvent> published = decideAndStop();

    copyDatabase(dump, scenario().name());
    // A dump that is restored is older than the silence by which a start recognises it.
    database().execute("update shard_heartbeat set alive_at = alive_at - interval '1 minute'");

    assertNothingIsForgotten(published);
  }

  /** Nothing was read since the dump, so that no position goes back. */
  @Test
  void aDumpThatLacksOnlyDecisionsIsALoss() {
    try (Service service =
        scenario()
            .startService(
                "order-timeout.reconciler.interval", "1s",
                "order-timeout.reconciler.confirm-after", "100ms")) {
      createPending(CANCELLED);
      scenario().awaitQuiet();
      String dump = scenario().name() + "_dump";
      pair().dump(database(), dump);
      passDeadlines(CANCELLED);
      List<PublishedEvent> published = CANCELLED.stream().map(outcomes()::awaitCancelled).toList();
      scenario().awaitQuiet();
      pair().makePendingDue(dump);

      pair().restoreDump(database(), dump);

      awaitStates(CANCELLED, "CANCELLED");
      scenario().awaitQuiet();
      published.forEach(this::assertCancelledAs);
      pay(CANCELLED);
      CANCELLED.forEach(this::assertOneConflict);
      service.awaitReady(true);
      assertNothingHeld();
    }
  }

  /** The orders are due at once, before any instance can have noticed. */
  @Test
  void aDumpRestoredWhileTheServiceRunsIsALoss() {
    try (Service service = scenario().startService()) {
      createPending(PAID);
      createPending(UNPAID);
      createPending(CANCELLED);
      scenario().awaitQuiet();
      String dump = scenario().name() + "_dump";
      pair().dump(database(), dump);
      pay(PAID);
      awaitStates(PAID, "PAID");
      createPending(LATER);
      passDeadlines(CANCELLED);
      List<PublishedEvent> published = CANCELLED.stream().map(outcomes()::awaitCancelled).toList();
      scenario().awaitQuiet();
      pair().makePendingDue(dump);

      pair().restoreDump(database(), dump);

      assertNothingIsForgotten(service, published);
    }
  }

  private void copyDatabase(String from, String to) {
    pair().execute("drop database if exists " + to + " with (force)");
    // Only an unused database can be copied.
    pair()
        .execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = '"
                + from
                + "'");
    pair().execute("create database " + to + " template " + from);
  }

  private void createAndStop() {
    try (Service service = scenario().startService()) {
      createPending(PAID);
      createPending(UNPAID);
      createPending(CANCELLED);
      scenario().awaitQuiet();
      service.awaitReady(true);
    }
  }

  private List<PublishedEvent> decideAndStop() {
    try (Service service = scenario().startService()) {
      pay(PAID);
      awaitStates(PAID, "PAID");
      createPending(LATER);
      service.awaitReady(true);
      passDeadlines(CANCELLED);
      List<PublishedEvent> published = CANCELLED.stream().map(outcomes()::awaitCancelled).toList();
      scenario().awaitQuiet();
      return published;
    }
  }

  private void assertNothingIsForgotten(List<PublishedEvent> published) {
    // All orders are due when the service starts, except those that Postgres does not know.
    database().makePendingDue();

    try (Service service = scenario().startService()) {
      assertNothingIsForgotten(service, published);
    }
  }

  private void assertNothingIsForgotten(Service service, List<PublishedEvent> published) {
    pay(CANCELLED);
    UNPAID.forEach(outcomes()::awaitCancelled);
    awaitStored();
    awaitStates(PAID, "PAID");
    awaitStates(LATER, "PENDING");
    published.forEach(this::assertCancelledAs);
    CANCELLED.forEach(this::assertOneConflict);
    List<String> expected = new ArrayList<>(UNPAID);
    expected.addAll(CANCELLED);
    assertThat(outcomes().cancelled())
        .extracting(PublishedEvent::key)
        .containsOnly(expected.toArray(String[]::new));
    service.awaitReady(true);
    assertNothingHeld();
  }
}
