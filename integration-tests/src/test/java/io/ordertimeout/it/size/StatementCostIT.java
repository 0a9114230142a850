package io.ordertimeout.it.size;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.size.StatementCosts.Cost;
import io.ordertimeout.it.size.StatementCosts.Scans;
import io.ordertimeout.it.support.ConsoleSession;
import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Every statement that the service issues reads pages and scans rows in proportion to its result,
 * however many orders there are, and an instance that has nothing to do issues few.
 */
@Order(20)
class StatementCostIT {

  private static final Logger log = LoggerFactory.getLogger(StatementCostIT.class);
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  private static final int FEW = 100_000;
  private static final int MANY = 1_000_000;

  /** With ten times as many rows, an index has at most one more level. */
  private static final double GROWTH = 2;

  /** What a result may cost in any case: the levels of an index, and the row. */
  private static final double MODEST = 10;

  /** What an execution may cost in any case; a scan of a large table or index costs thousands. */
  private static final long NEGLIGIBLE = 100;

  /**
   * What an execution may scan in any case: the largest page or window of a statement, and the rows
   * that tell that there are more.
   */
  private static final long WINDOW = 20_010;

  /** How often everything is done, so that no single execution decides. */
  private static final int REPETITIONS = 3;

  /** There is one each second, or less often if the machine is slow; then all else is, too. */
  private static final String HEARTBEAT = "into shard_heartbeat";

  private static final int HEARTBEATS = 20;

  /**
   * In a second, transactions and the connection pool included. There are 3 to 4; a busy machine
   * issues fewer.
   */
  private static final double MOST_STATEMENTS_WHEN_IDLE = 6;

  /** The service has more than that; fewer would mean that they were not counted. */
  private static final int STATEMENTS = 60;

  private static final String[] SETTINGS = {
    "spring.datasource.hikari.maximum-pool-size", "4",
    "order-timeout.deadline.purge-interval", "1s",
    "order-timeout.reconciler.interval", "1s",
    "order-timeout.reconciler.confirm-after", "1s",
    "order-timeout.outbox.sweep-interval", "1s",
  };

  private static StatementCosts costs;

  @BeforeAll
  static void startPostgres(@TempDir Path directory) throws IOException {
    costs = new StatementCosts(directory);
  }

  @AfterAll
  static void stopPostgres() throws IOException {
    costs.close();
  }

  @Test
  void anIdleInstanceIssuesFewStatements() {
    try (Scenario scenario = costs.begin();
        Service service = scenario.startService()) {
      Database database = scenario.database();
      service.awaitReady(true);
      Instant begin = database.now();
      costs.reset(database);
      await("heartbeats")
          .atMost(PATIENCE)
          .until(() -> calls(costs.read(database), HEARTBEAT) >= HEARTBEATS);

      Map<String, Cost> read = costs.read(database);
      read.forEach((statement, cost) -> log.info("{} {}", cost, statement));
      double seconds = Duration.between(begin, database.now()).toMillis() / 1_000.0;
      assertThat(calls(read, "") / seconds).isLessThan(MOST_STATEMENTS_WHEN_IDLE);
    }
  }

  /** The service runs beside 100,000 orders and then beside 1,000,000, half of them pending. */
  @Test
  void theCostOfAStatementDependsOnItsResultAndNotOnTheNumberOfOrders() {
    try (Scenario scenario = costs.begin()) {
      fill(scenario.database(), 0, FEW);
      Map<String, Cost> besideFew = run(scenario, "few");
      fill(scenario.database(), FEW, MANY);
      Map<String, Cost> besideMany = run(scenario, "many");

      assertThat(besideMany).hasSizeGreaterThan(STATEMENTS);
      assertThat(growing(besideFew, besideMany)).isEmpty();
      assertThat(scanning(costs.scans(scenario.database()))).isEmpty();
    }
  }

  /**
   * The service plans its statements beside empty tables, as Postgres knows from its statistics,
   * and keeps the plans. Then orders come in, and an outage of a topic fills the outbox; neither
   * the plans nor the statistics change.
   */
  @Test
  void theCostOfAStatementStaysTheSameWhenEmptyTablesFillUp() {
    try (Scenario scenario = costs.begin()) {
      Database database = scenario.database();
      database.execute("vacuum analyze");
      try (Service service = scenario.startService(SETTINGS)) {
        service.awaitReady(true);
        exercise(scenario, service, "planned");
        scenario.awaitQuiet();
        scenario.kafka().deleteTopic(scenario.topics().conflict());
        insertOrders(database, 0, FEW);
        insertUnpublished(database, FEW / 2);
        costs.reset(database);
        exercise(scenario, service, "measured");
        await("publication")
            .atMost(PATIENCE)
            .until(
                () ->
                    database.count(
                            "select count(*) from outbox"
                                + " where payment_id = '' and published_at is null")
                        == 0);
        awaitPeriodicStatements(database);
      }

      Map<String, Scans> scans = costs.scans(database);
      scans.forEach((statement, scan) -> log.info("{} {}", scan, statement));
      assertThat(scans).hasSizeGreaterThan(STATEMENTS / 2);
      assertThat(scanning(scans)).isEmpty();
    }
  }

  private static void fill(Database database, int from, int to) {
    insertOrders(database, from, to);
    database.execute("vacuum analyze");
  }

  /**
   * Orders of all states with deadlines and decisions that nobody waits for or purges; some come
   * due within the hour, some are parked, of which some are decided. And interruptions that were
   * over before all of them.
   */
  private static void insertOrders(Database database, int from, int to) {
    database.execute(
        """
        insert into order_deadline (
          order_id, shard, state, created_at, deadline, policy, channel, amount, currency,
          decided_at, decided_by)
        select
          'stored-' || lpad(i::text, 9, '0'), i % ?,
          case when i % 2 = 0 then 'PENDING' when i % 3 = 0 then 'CANCELLED' else 'PAID' end,
          now() - interval '1 h',
          now() + make_interval(secs => case when i % 8 = 0 then 1800 else 36000 end + i % 1700),
          'DEFAULT',
          'web', 10, 'EUR',
          case when i % 2 = 1 then now() end,
          case when i % 2 = 0 then null when i % 3 = 0 then 'EXPIRY' else 'PAYMENT' end
        from generate_series(?::int, ?::int - 1) as i
        on conflict do nothing
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
        insert into outbox (order_row, shard, published_at, due_at)
        select id, shard, now(), now() - make_interval(secs => 2 + id % 600) from order_deadline
        where state = 'CANCELLED'
        on conflict do nothing
        """);
    database.execute(
        """
        insert into outbox (order_row, payment_id, shard, paid_at, published_at)
        select d.id, 'late', d.shard, now(), now()
        from generate_series(?::int + 3, ?::int - 1, 60) as i
        join order_deadline d on d.order_id = 'stored-' || lpad(i::text, 9, '0')
        """,
        from,
        to);
    database.execute(
        """
        insert into parked_order (order_id, shard, reason)
        select 'stored-' || lpad(i::text, 9, '0'), i % ?, 'rejected'
        from generate_series(?::int, ?::int - 1) as i
        where i % 8 in (0, 4, 7)
        """,
        Scenario.PARTITIONS, from, to);
    database.execute(
        """
        insert into suspension (
          channel, shard, placed_by_kind, placed_by, reason, moves_deadlines, began_at, ended_at)
        select s.*, ended_at - interval '1 s', ended_at
        from generate_series(?::int, ?::int - 1, 300) as i
        cross join lateral (select now() - make_interval(secs => 10000 + i % 1000) as ended_at) o
        cross join lateral (
          values
            ('web', null, 'OPERATOR', 'operator', 'drill', true),
            (null, i % ?, 'SERVICE', 'service', 'lost', false)) s
        """,
        from, to, Scenario.PARTITIONS);
    database.execute(
        """
        insert into shard_outage (shard, began_at, ended_at)
        select i % ?, now() - make_interval(secs => 1000000 - i), now() - interval '3 h'
        from generate_series(?::int, ?::int - 1, 300) as i
        """,
        Scenario.PARTITIONS, from, to);
    database.execute(
        """
        insert into console_session
        select i, i, 0, 0, 36000, extract(epoch from now() + interval '10 h') * 1000, 'user ' || i / 10
        from generate_series(?::int, ?::int - 1, 50) as i
        """,
        from,
        to);
    database.execute(
        """
        insert into console_session_attributes
        select primary_id, 'roles', 'ROLE_VIEWER'::bytea from console_session
        on conflict do nothing
        """);
  }

  /** Conflicts whose topic does not exist. */
  private static void insertUnpublished(Database database, int count) {
    database.execute(
        """
        insert into outbox (order_row, payment_id, shard, paid_at, written_at)
        select d.id, 'unpublished', d.shard, now(), now() - interval '1 h'
        from generate_series(0, ?::int - 1) as i
        join order_deadline d on d.order_id = 'stored-' || lpad(i::text, 9, '0')
        """,
        count);
  }

  /** Has the service do everything it does, and returns what its statements cost. */
  private static Map<String, Cost> run(Scenario scenario, String name) {
    costs.reset(scenario.database());
    try (Service service = scenario.startService(SETTINGS)) {
      service.awaitReady(true);
      exercise(scenario, service, name);
      scenario.awaitQuiet();
      awaitPeriodicStatements(scenario.database());
    }
    Map<String, Cost> read = costs.read(scenario.database());
    read.forEach((statement, cost) -> log.info("{} {}", cost, statement));
    return read;
  }

  private static void exercise(Scenario scenario, Service service, String name) {
    for (int i = 0; i < REPETITIONS; i++) {
      process(scenario, name + "-" + i);
      operate(service, name + "-" + i);
    }
  }

  private static void awaitPeriodicStatements(Database database) {
    await("the counts of every few seconds")
        .atMost(PATIENCE)
        .until(
            () ->
                List.of("as overdue", "from outbox", "as sampled").stream()
                    .allMatch(statement -> calls(costs.read(database), statement) >= 2));
  }

  private static long calls(Map<String, Cost> read, String part) {
    return read.entrySet().stream()
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
    ConsoleSession session =
        ConsoleSession.begin(service.http(), "operator", Http.OPERATOR_PASSWORD);
    session.at(service).get("/api/v1/overview").assertOk();
    session.end(service);
    Http operator = service.http().operator();
    operator.get("/api/v1/policies/what-if", "timeout", "PT10M").assertOk();
    operator.get("/api/v1/conflicts", "open", "true").assertOk();
    operator.get("/api/v1/orders", "state", "PENDING").assertOk();
    operator.get("/api/v1/orders").assertOk();
    operator.get("/api/v1/orders", "prefix", "stored-0000").assertOk();
    for (String sort : List.of("deadline", "-deadline", "id", "-id", "lateness", "-lateness")) {
      operator
          .get("/api/v1/orders", "sort", sort, "channel", "no order's", "total", "true")
          .assertOk();
    }
    operator.get("/api/v1/orders", "overdue", "true", "total", "true").assertOk();
    operator.get("/api/v1/orders", "lateByMillis", "86400000", "total", "true").assertOk();
    operator.get("/api/v1/order", "id", "paid-" + id).assertOk();
    operator.get("/api/v1/order", "id", "unpaid-" + id).assertOk();
    for (String list :
        List.of("overview", "forecast", "pauses", "holds", "parked", "audit", "conflicts")) {
      operator.get("/api/v1/" + list).assertOk();
    }
    operator
        .post(
            "/api/v1/order/extend",
            Map.of(
                "orderId",
                "extended-" + id,
                "deadline",
                Scenario.in(Duration.ofHours(2)).toString(),
                "reason",
                "as the customer asked"))
        .assertOk();
    operator
        .with("Idempotency-Key", id)
        .post(
            "/api/v1/orders/extend",
            Map.of(
                "orderIds",
                List.of("extended-" + id, "nobody's"),
                "deadline",
                Scenario.in(Duration.ofHours(3)).toString(),
                "reason",
                "as the customer asked again"))
        .assertOk();
    operator
        .post(
            "/api/v1/order/cancel", Map.of("orderId", "cancelled-by-hand-" + id, "reason", "fraud"))
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

  /**
   * The statements that scan more rows than they return, or read more of an index than the rows
   * that they find by it.
   */
  private static Map<String, Scans> scanning(Map<String, Scans> scans) {
    Map<String, Scans> scanning = new TreeMap<>();
    scans.forEach(
        (statement, scan) -> {
          boolean rows = scan.scanned() > WINDOW * scan.calls() && scan.scannedPerRow() > MODEST;
          long found = scan.calls() + scan.rows() + scan.scanned();
          if (rows || (scan.pages() > NEGLIGIBLE * scan.calls() && scan.pages() > MODEST * found)) {
            scanning.put(statement, scan);
          }
        });
    return scanning;
  }
}
