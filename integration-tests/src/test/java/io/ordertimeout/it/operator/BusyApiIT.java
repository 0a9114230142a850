package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.ConsoleSession;
import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.Interceptors;
import io.ordertimeout.it.support.RawHttp;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;
import tools.jackson.databind.JsonNode;

/**
 * Requests that Postgres does not answer delay no decision and no change by an operator, and their
 * work ends although nobody tells the service that their clients are gone.
 */
class BusyApiIT {

  /** Far more than a reading may take, far less than Postgres's own time-out. */
  private static final Duration TIME_OF_A_READING = Duration.ofSeconds(35);

  private static final int REQUESTS = 20;
  private static final int THREADS = 10;
  private static final int PERMITS = 4;

  private static final String OUTBOX = "outbox";

  /** The statement that reads a page of conflicts. */
  private static final String CONFLICTS = "outbox%written_at desc";

  private static final Pattern NEXT = Pattern.compile("<(\\?[^>]+)>; rel=\"next\"");

  private static long waitingForLocks(Scenario scenario, String table) {
    return scenario
        .database()
        .count(
            """
            select count(*) from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'
              and query ilike '%%from %s%%'
            """
                .formatted(table));
  }

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
          .until(() -> waitingForLocks(scenario, "operator_action") >= PERMITS);

      scenario.create("due", 0, Scenario.in(Duration.ZERO));

      await("the cancellation").until(() -> !scenario.outcomes().cancelled("due").isEmpty());
      assertThat(waitingForLocks(scenario, "operator_action")).isPositive();
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

  @Test
  void anOperatorLogsInAndPausesExpiryWhileAViewerReadsAsMuchAsPossible() throws Exception {
    ExecutorService clients = Executors.newFixedThreadPool(8 * THREADS);
    try (Scenario scenario = Scenario.create();
        Service service =
            scenario.startService(
                "server.tomcat.threads.max",
                Integer.toString(THREADS),
                "spring.datasource.hikari.maximum-pool-size",
                "28");
        Connection connection = scenario.database().connect();
        Statement lock = connection.createStatement()) {
      service.awaitReady(true);
      connection.setAutoCommit(false);
      lock.execute("lock table " + OUTBOX + " in access exclusive mode");
      Http viewer = service.http().viewer();
      for (int i = 0; i < 8 * THREADS; i++) {
        clients.execute(() -> viewer.get("/api/v1/conflicts"));
      }
      await("readings that take every permit")
          .until(() -> waitingForLocks(scenario, CONFLICTS) >= PERMITS);

      Answer pause =
          ConsoleSession.begin(service.http(), "operator", Http.OPERATOR_PASSWORD)
              .at(service)
              .postOnce("/api/v1/pauses", Map.of("moveDeadlines", true, "reason", "no payments"));

      assertThat(pause.status()).as(pause.response().body()).isEqualTo(200);
      assertThat(waitingForLocks(scenario, CONFLICTS)).isEqualTo(PERMITS);
    } finally {
      clients.shutdownNow();
    }
  }

  @Test
  void theStatementOfAReadingEndsAfterItsClientIsGone() throws Exception {
    try (Scenario scenario = Scenario.create();
        Service service = scenario.startService();
        Connection connection = scenario.database().connect();
        Statement lock = connection.createStatement()) {
      service.awaitReady(true);
      connection.setAutoCommit(false);
      lock.execute("lock table " + OUTBOX + " in access exclusive mode");
      List<RawHttp> clients = new ArrayList<>();
      for (int i = 0; i < PERMITS; i++) {
        clients.add(RawHttp.send(service.http().base(), request("/api/v1/conflicts")));
      }
      await("readings that wait for the lock")
          .until(() -> waitingForLocks(scenario, CONFLICTS) == PERMITS);

      for (RawHttp client : clients) {
        client.close();
      }

      await("the end of the readings")
          .atMost(TIME_OF_A_READING)
          .until(() -> waitingForLocks(scenario, CONFLICTS) == 0);
      service.http().viewer().get("/api/v1/overview").assertOk();
    }
  }

  private static String request(String path) {
    String credentials =
        Base64.getEncoder()
            .encodeToString(("viewer:" + Http.VIEWER_PASSWORD).getBytes(StandardCharsets.UTF_8));
    return """
        GET %s HTTP/1.1
        Host: localhost
        Authorization: Basic %s

        """
        .formatted(path, credentials);
  }

  @Test
  void everyReadingIsAnsweredInTimeAlthoughPostgresDoesNot() throws Exception {
    ExecutorService clients = Executors.newFixedThreadPool(3 * REQUESTS);
    try (Scenario scenario = Scenario.create();
        Service service =
            scenario.startService(
                "order-timeout.api.max-concurrent-requests", "40",
                "spring.datasource.hikari.maximum-pool-size", "60");
        Connection connection = scenario.database().connect();
        Statement lock = connection.createStatement()) {
      service.awaitReady(true);
      connection.setAutoCommit(false);
      lock.execute(
          "lock table %s in access exclusive mode"
              .formatted(
                  String.join(
                      ", ",
                      scenario
                          .database()
                          .query(
                              "select tablename from pg_tables where schemaname = current_schema()",
                              (row, number) -> row.getString(1)))));
      Http viewer = service.http().viewer();
      Map<String, CompletableFuture<Integer>> answers = new TreeMap<>();
      for (String path : readings(service.http(), scenario.topics().deadLetters().get(0))) {
        // A request that takes longer than the client's patience fails.
        answers.put(path, CompletableFuture.supplyAsync(() -> viewer.get(path).status(), clients));
      }

      assertThat(answers).hasSizeGreaterThan(15);
      for (Map.Entry<String, CompletableFuture<Integer>> answer : answers.entrySet()) {
        assertThat(answer.getValue().join()).as(answer.getKey()).isIn(200, 503);
      }
    } finally {
      clients.shutdownNow();
    }
  }

  /** The paths that can be read, except the stream and what only reads a session. */
  private static List<String> readings(Http anybody, String deadLetters) {
    JsonNode paths = anybody.get("/contracts/openapi.json").assertOk().json().path("paths");
    return paths.propertyNames().stream()
        .filter(path -> paths.path(path).has("get"))
        .filter(path -> !path.endsWith("/live") && !path.endsWith("/session"))
        // There is no dead letter, so nothing would be read.
        .filter(path -> !path.endsWith("{offset}"))
        .map(path -> path.replace("{id}", "0"))
        .map(path -> path.replace("{topic}", deadLetters))
        .map(path -> path.equals("/api/v1/order") ? path + "?id=0" : path)
        .map(path -> path.endsWith("/what-if") ? path + "?timeout=PT10M" : path)
        .toList();
  }

  @Test
  void anExportThatIsSlowHasFewerOrdersAndSaysWhereItGoesOn() {
    int orders = 4_000;
    try (Scenario scenario = Scenario.create();
        Service service = scenario.startService(List.of(slowPages()))) {
      service.awaitReady(true);
      scenario
          .database()
          .execute(
              """
              insert into order_deadline (order_id, shard, state, created_at, deadline, policy)
              select 'slow-' || n, 0, 'PENDING', now(), now() + interval '1 day', 'DEFAULT'
              from generate_series(1, ?) n
              """,
              orders);

      List<Integer> parts = new ArrayList<>();
      @Nullable String query = "";
      while (query != null) {
        Answer part = service.http().viewer().get("/api/v1/orders.csv" + query).assertOk();
        parts.add(Integer.parseInt(part.header("Orders-Exported")));
        Matcher next = NEXT.matcher(part.header("Link"));
        query = next.find() ? next.group(1) : null;
      }

      assertThat(parts).hasSizeGreaterThan(1);
      assertThat(parts.stream().mapToInt(Integer::intValue).sum()).isEqualTo(orders);
    }
  }

  /** Lets Postgres take a second longer for each page of orders. */
  private static BeanPostProcessor slowPages() {
    return Interceptors.made(
        DataSource.class,
        Connection.class,
        call -> {
          if (call.getMethod().getName().equals("prepareStatement")
              && call.getArguments()[0].toString().contains("with checked as")) {
            Connection connection = (Connection) Objects.requireNonNull(call.getThis());
            try (Statement sleep = connection.createStatement()) {
              sleep.execute("select pg_sleep(1)");
            }
          }
          return call.proceed();
        });
  }
}
