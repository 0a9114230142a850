package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/** Payments that due orders wait for are read before a backlog of creations. */
@Order(60)
class PaymentPriorityIT {

  private static final int BATCH = 500;

  /** The advisory lock of Postgres that a test holds while the service has to wait. */
  private static final int TEST_LOCK = 901;

  private static final String WAITING =
      "select count(*) from pg_locks where locktype = 'advisory' and objid = "
          + TEST_LOCK
          + " and not granted";

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Service service =
      scenario.startService("order-timeout.intake.batch-size", Integer.toString(BATCH));
  private final Shop shop = scenario.shop();
  private final Database database = scenario.database();

  @Test
  void aBacklogOfCreationsDoesNotDelayThePaymentsThatDueOrdersWaitFor() throws Exception {
    int backlog = 20 * BATCH;
    for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
      scenario.createPending("awaited-" + shard, shard);
    }
    // So many that some are due when the backlog is there, on a machine of any speed.
    Instant first = Scenario.in(Duration.ofSeconds(2));
    for (int i = 0; i < 40; i++) {
      for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
        scenario.create("due-" + shard + "-" + i, shard, first.plusMillis(400L * i));
      }
    }
    // Lets the first batch through, so that the service has received more than it has stored.
    database.execute(
        """
        create function wait_for_test() returns trigger language plpgsql as $$
        begin
          if (select count(*) from order_deadline where order_id like 'backlog-%%') > %d then
            perform pg_advisory_xact_lock_shared(%d);
          end if;
          return null;
        end $$;
        create trigger wait_for_test after insert on order_deadline
          execute function wait_for_test()
        """
            .formatted(BATCH, TEST_LOCK));
    long before;
    try (Connection connection = database.connect();
        Statement lock = connection.createStatement()) {
      connection.setAutoCommit(false);
      lock.execute("select pg_advisory_xact_lock(%d)".formatted(TEST_LOCK));
      publishCreations(backlog);
      await("a batch that waits").until(() -> database.count(WAITING) > 0 && storedOfBacklog() > 0);
      before = storedOfBacklog();
      for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
        scenario.pay("awaited-" + shard, shard);
      }
      await("due orders").atMost(Duration.ofMinutes(1)).until(() -> lag() > 0.5);
      connection.rollback();
    }
    database.execute("drop trigger wait_for_test on order_deadline; drop function wait_for_test()");
    scenario.awaitQuiet();

    assertThat(storedOfBacklog()).isEqualTo(backlog);
    long meanwhile =
        database.count(
            """
            select count(*) from order_deadline
            where order_id like 'backlog-%'
              and xmin::text::bigint < (
                select max(xmin::text::bigint) from order_deadline
                where order_id like 'awaited-%' and state = 'PAID')
            """);
    assertThat(meanwhile - before).isLessThanOrEqualTo(3 * BATCH);
  }

  private void publishCreations(int orders) {
    IntStream.range(0, orders)
        .mapToObj(i -> "backlog-" + i)
        .map(
            orderId ->
                shop.send(
                    scenario.topics().created(), orderId, Map.of("createdAt", now().toString())))
        .toList()
        .forEach(Shop::await);
  }

  /** For how long the due orders have waited, of the shard where they have waited least. */
  private double lag() {
    return IntStream.range(0, Scenario.PARTITIONS)
        .mapToDouble(
            shard -> service.gauge("order.timeout.watermark.lag", "shard", Integer.toString(shard)))
        .min()
        .orElseThrow();
  }

  private long storedOfBacklog() {
    return database.count("select count(*) from order_deadline where order_id like 'backlog-%'");
  }

  private static Instant now() {
    return Instant.now().truncatedTo(ChronoUnit.MICROS);
  }
}
