package io.ordertimeout.it.size;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.size.StatementCosts.Cost;
import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Every statement that the service issues reads pages in proportion to its result, however many
 * orders there are. The service runs beside 100,000 orders and then beside 1,000,000, half of them
 * pending. The second time, Postgres plans each statement once for all parameters, as it does after
 * some executions.
 */
@Order(20)
class StatementCostIT {

  private static final Logger log = LoggerFactory.getLogger(StatementCostIT.class);
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private static final int FEW = 100_000;
  private static final int MANY = 1_000_000;

  /** With ten times as many rows, an index has at most one more level. */
  private static final double GROWTH = 2;

  /** What a result may cost in any case: the levels of an index, and the row. */
  private static final double MODEST = 10;

  /** What an execution may cost in any case; a scan of a large table or index costs thousands. */
  private static final long NEGLIGIBLE = 100;

  /** Each kind of event and each search so often that every connection has a plan for it. */
  private static final int REPETITIONS = 8;

  /** The service has more than that; fewer would mean that they were not counted. */
  private static final int STATEMENTS = 60;

  private static final String[] SETTINGS = {
    "spring.datasource.hikari.maximum-pool-size", "4",
    "spring.datasource.hikari.data-source-properties.prepareThreshold", "1",
    "order-timeout.deadline.purge-interval", "1s",
    "order-timeout.reconciler.interval", "1s",
    "order-timeout.reconciler.confirm-after", "1s",
    "order-timeout.outbox.sweep-interval", "1s",
  };

  @Test
  void theCostOfAStatementDependsOnItsResultAndNotOnTheNumberOfOrders(@TempDir Path directory)
      throws IOException {
    try (StatementCosts costs = new StatementCosts(directory)) {
      Database database = costs.scenario().database();
      fill(database, 0, FEW);
      Map<String, Cost> besideFew = run(costs, "few");
      fill(database, FEW, MANY);
      database.execute(
          "alter database "
              + costs.scenario().name()
              + " set plan_cache_mode = force_generic_plan");
      Map<String, Cost> besideMany = run(costs, "many");

      assertThat(besideMany).hasSizeGreaterThan(STATEMENTS);
      assertThat(growing(besideFew, besideMany)).isEmpty();
    }
  }

  /** Orders of all states with deadlines and decisions that nobody waits for or purges. */
  private static void fill(Database database, int from, int to) {
    database.execute(
        """
        insert into order_deadline (
          order_id, shard, state, created_at, deadline, policy, channel, amount, currency,
          decided_at, decided_by)
        select
          'stored-' || lpad(i::text, 9, '0'), i % ?,
          case when i % 2 = 0 then 'PENDING' when i % 3 = 0 then 'CANCELLED' else 'PAID' end,
          now() - interval '1 h', now() + make_interval(secs => 36000 + i % 500000), 'DEFAULT',
          'web', 10, 'EUR',
          case when i % 2 = 1 then now() end,
          case when i % 2 = 0 then null when i % 3 = 0 then 'EXPIRY' else 'PAYMENT' end
        from generate_series(?::int, ?::int - 1) as i
        """,
        Scenario.PARTITIONS, from, to);
    database.execute(
        """
        insert into operator_action (actor, action, subject, reason)
        select 'operator', 'EXTEND_ORDER', 'stored-' || i, 'as the customer asked'
        from generate_series(?::int, ?::int - 1, 50) as i
        """,
        from,
        to);
    database.execute(
        """
        insert into payment_conflict (order_id, payment_id, paid_at, published_at)
        select 'stored-' || lpad(i::text, 9, '0'), 'late', now(), now()
        from generate_series(?::int + 3, ?::int - 1, 60) as i
        """,
        from,
        to);
    database.execute("vacuum analyze");
  }

  /** Has the service do everything it does, and returns what its statements cost. */
  private static Map<String, Cost> run(StatementCosts costs, String name) {
    costs.reset();
    Scenario scenario = costs.scenario();
    try (Service service = scenario.startService(SETTINGS)) {
      service.awaitReady(true);
      for (int i = 0; i < REPETITIONS; i++) {
        process(scenario, name + "-" + i);
        operate(service, name + "-" + i);
      }
      scenario.awaitQuiet();
      await("the counts of every few seconds")
          .atMost(PATIENCE)
          .until(() -> calls(costs, "as overdue") >= 2 && calls(costs, "from outbox") >= 2);
    }
    Map<String, Cost> read = costs.read();
    read.forEach((statement, cost) -> log.info("{} {}", cost, statement));
    return read;
  }

  private static long calls(StatementCosts costs, String part) {
    return costs.read().entrySet().stream()
        .filter(entry -> entry.getKey().contains(part))
        .mapToLong(entry -> entry.getValue().calls())
        .sum();
  }

  private static void process(Scenario scenario, String id) {
    int partition = Math.floorMod(id.hashCode(), Scenario.PARTITIONS);
    for (String order : List.of("paid-", "closed-", "extended-", "cancelled-by-hand-")) {
      scenario.create(order + id, partition, Scenario.in(Duration.ofHours(1)));
    }
    scenario.pay("paid-" + id, partition);
    scenario.closeOrder("closed-" + id, partition);
    scenario.pay("unknown-" + id, partition);
    scenario.passDeadline("unpaid-" + id, partition);
    scenario.pay("unpaid-" + id, partition);
    scenario.pay("stored-%09d".formatted(2 * Math.abs(id.hashCode() % 10_000)), partition);
    scenario.awaitState("cancelled-by-hand-" + id, "PENDING");
  }

  private static void operate(Service service, String id) {
    Http operator = service.http().operator();
    operator.get("/api/orders", "state", "PENDING").assertOk();
    operator.get("/api/orders").assertOk();
    operator.get("/api/orders", "prefix", "stored-0000").assertOk();
    operator.get("/api/order", "id", "paid-" + id).assertOk();
    operator.get("/api/order", "id", "unpaid-" + id).assertOk();
    for (String list : List.of("overview", "forecast", "pauses", "holds", "parked", "audit")) {
      operator.get("/api/" + list).assertOk();
    }
    operator
        .post(
            "/api/order/extend",
            Map.of(
                "orderId",
                "extended-" + id,
                "deadline",
                Scenario.in(Duration.ofHours(2)).toString(),
                "reason",
                "as the customer asked"))
        .assertOk();
    operator
        .post("/api/order/cancel", Map.of("orderId", "cancelled-by-hand-" + id, "reason", "fraud"))
        .assertOk();
  }

  /** The statements whose results cost more beside many orders than beside few. */
  private static Map<String, String> growing(Map<String, Cost> few, Map<String, Cost> many) {
    Map<String, String> growing = new TreeMap<>();
    many.forEach(
        (statement, cost) -> {
          Cost before = few.get(statement);
          double bound = before == null ? 0 : GROWTH * before.pagesPerResult();
          if (cost.pages() > NEGLIGIBLE * cost.calls()
              && cost.pagesPerResult() > Math.max(bound, MODEST)) {
            growing.put(statement, before + " -> " + cost);
          }
        });
    return growing;
  }
}
