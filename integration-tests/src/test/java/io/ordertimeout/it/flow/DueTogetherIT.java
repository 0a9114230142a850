package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Scenario;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Orders of several shards that come due in the same moment, which one statement decides. */
class DueTogetherIT {

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();

  private void create(int shard, String name, Instant deadline) {
    scenario.create("shard-" + shard + "-" + name, shard, deadline);
  }

  @Test
  void areAllDecidedAndThoseOfThemThatArePaidAreNot() {
    scenario.startService();
    Instant deadline = Scenario.in(Duration.ofSeconds(3));
    for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
      create(shard, "unpaid", deadline);
      create(shard, "paid", deadline);
      scenario.pay("shard-" + shard + "-paid", shard);
    }

    scenario.awaitAllDecided();
    for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
      scenario.outcomes().awaitCancelled("shard-" + shard + "-unpaid");
      assertThat(scenario.database().state("shard-" + shard + "-paid")).isEqualTo("PAID");
    }
    assertThat(scenario.outcomes().cancelled()).hasSize(Scenario.PARTITIONS);
  }

  /** Postgres has not seen shard 0 for longer than is allowed, whatever the instance believes. */
  @Test
  void areNotHeldUpByAShardThatMayNotBeDecided() throws SQLException {
    scenario.startService(
        "order-timeout.expiry.threads", "1",
        "order-timeout.expiry.after-outage", "extend-by-outage",
        "order-timeout.expiry.outage-after", "10s",
        // Whatever is held up is not decided before the test ends.
        "order-timeout.expiry.retry-delay", "10m");
    create(0, "first", Scenario.in(Duration.ZERO));
    scenario.outcomes().awaitCancelled("shard-0-first");
    database.execute(
        """
        create function unseen() returns trigger language plpgsql as $$
        begin new.alive_at := now() - interval '1 h'; return new; end $$
        """);
    database.execute(
        """
        create trigger unseen before update on shard_heartbeat
        for each row when (new.shard = 0) execute function unseen()
        """);
    try (Connection placing = database.connect()) {
      // The only thread waits, and the batches of the other shards behind it.
      placing.setAutoCommit(false);
      placing.createStatement().execute("lock table suspension in exclusive mode");
      create(2, "before", Scenario.in(Duration.ZERO));
      await("the decision to wait")
          .until(
              () ->
                  database.count(
                          "select count(*) from pg_locks where not granted and locktype = 'relation'")
                      > 0);
      Instant deadline = Scenario.in(Duration.ofSeconds(1));
      create(0, "unpaid", deadline);
      create(1, "unpaid", deadline);
      await("the deadline").until(() -> database.now().isAfter(deadline.plusSeconds(2)));
      placing.rollback();
    }

    scenario.outcomes().awaitCancelled("shard-2-before");
    scenario.outcomes().awaitCancelled("shard-1-unpaid");
    assertThat(database.state("shard-0-unpaid")).isEqualTo("PENDING");
    database.execute("drop trigger unseen on shard_heartbeat");
  }
}
