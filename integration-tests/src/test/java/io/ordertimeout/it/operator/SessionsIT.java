package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.ConsoleSession;
import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.TcpProxy;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Sessions of the console: all instances share them, and an outage of Postgres ends none. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SessionsIT {

  private static final int MOST_OF_A_USER = 20;

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Service service = scenario.startService();

  @Test
  void anyInstanceServesASessionAndARestartEndsNone() {
    ConsoleSession session;
    try (Service other = scenario.startService()) {
      session = operator(other);
      assertThat(session.userAt(other)).isEqualTo("operator");
      assertThat(session.userAt(service)).isEqualTo("operator");
      // Authorized, and then refused for its content.
      assertThat(session.at(service).post("/api/v1/pauses", Map.of()).status()).isEqualTo(400);
    }
    try (Service restarted = scenario.startService()) {
      assertThat(session.userAt(restarted)).isEqualTo("operator");

      assertThat(session.end(restarted).status()).isEqualTo(204);

      assertThat(session.userAt(restarted)).isEmpty();
      assertThat(session.userAt(service)).isEmpty();
      assertThat(session.at(service).get("/api/v1/overview").status()).isEqualTo(401);
    }
  }

  @Test
  void anotherPasswordEndsTheSessionsOfItsUserAlone() {
    ConsoleSession operator = operator(service);
    ConsoleSession viewer = ConsoleSession.begin(service.http(), "viewer", Http.VIEWER_PASSWORD);

    try (Service changed =
        scenario.startService("order-timeout.access.operator-password", "another")) {
      assertThat(operator.userAt(changed)).isEmpty();
      assertThat(operator.at(changed).get("/api/v1/overview").status()).isEqualTo(401);
      assertThat(viewer.userAt(changed)).isEqualTo("viewer");
    }
  }

  @Test
  void aSessionHasTheRightsOfItsUser() {
    ConsoleSession viewer = ConsoleSession.begin(service.http(), "viewer", Http.VIEWER_PASSWORD);

    assertThat(viewer.userAt(service)).isEqualTo("viewer");
    viewer.at(service).get("/api/v1/overview").assertOk();
    assertThat(viewer.at(service).post("/api/v1/pauses", Map.of()).status()).isEqualTo(403);
  }

  @Test
  void anOutageOfPostgresEndsNoSession() {
    String direct = scenario.database().url();
    int port = URI.create(direct.substring("jdbc:".length())).getPort();
    try (TcpProxy way = TcpProxy.to(port);
        Service cutOff =
            scenario.startService(
                "spring.datasource.url",
                direct.replace(":" + port + "/", ":" + way.port() + "/"))) {
      ConsoleSession known = operator(cutOff);
      ConsoleSession unknown = operator(service);
      way.refuse();

      assertThat(known.userAt(cutOff)).isEqualTo("operator");
      assertUnavailable(unknown.at(cutOff).get("/api/v1/overview"));
      assertUnavailable(unknown.at(cutOff).get("/api/v1/session"));
      assertUnavailable(known.end(cutOff));
      assertUnavailable(
          ConsoleSession.tryToBegin(cutOff.http(), "operator", Http.OPERATOR_PASSWORD));

      way.restore();
      await("sessions are read again")
          .until(() -> unknown.at(cutOff).get("/api/v1/session").status() == 200);
      assertThat(unknown.userAt(cutOff)).isEqualTo("operator");
      assertThat(known.userAt(cutOff)).isEqualTo("operator");
      assertThat(operator(cutOff).userAt(cutOff)).isEqualTo("operator");
    }
  }

  private static void assertUnavailable(Answer answer) {
    assertThat(answer.status()).as(answer.response().body()).isEqualTo(503);
    assertThat(answer.header("Retry-After")).isEqualTo("5");
    assertThat(answer.json().path("detail").asString()).contains("Postgres does not answer");
  }

  @Test
  void aUserWithManySessionsLosesTheOneThatWasNotUsedForLongest() {
    List<ConsoleSession> sessions = new ArrayList<>();
    for (int i = 0; i < MOST_OF_A_USER; i++) {
      sessions.add(ConsoleSession.begin(service.http(), "viewer", Http.VIEWER_PASSWORD));
    }

    ConsoleSession one = ConsoleSession.begin(service.http(), "viewer", Http.VIEWER_PASSWORD);

    assertThat(one.userAt(service)).isEqualTo("viewer");
    assertThat(sessions.get(0).userAt(service)).isEmpty();
    assertThat(sessions.get(MOST_OF_A_USER - 1).userAt(service)).isEqualTo("viewer");
    assertThat(
            scenario
                .database()
                .count("select count(*) from console_session where principal_name = 'viewer'"))
        .isEqualTo(MOST_OF_A_USER);
  }

  @Test
  void mostRequestsOfASessionWriteNothing() {
    ConsoleSession session = operator(service);
    List<String> before = rows(session);

    for (int i = 0; i < 3; i++) {
      session.at(service).get("/api/v1/overview").assertOk();
    }

    assertThat(rows(session)).isEqualTo(before);
  }

  /** The versions of all rows, by the transactions that wrote them. */
  private List<String> rows(ConsoleSession session) {
    assertThat(session.userAt(service)).isEqualTo("operator");
    return scenario
        .database()
        .query(
            "select session_id || ' ' || xmin from console_session"
                + " where principal_name = 'operator' order by 1",
            (row, number) -> row.getString(1));
  }

  @Test
  void anUnknownSessionIsNoSession() {
    for (String id : List.of("", "x", "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=", "'; drop table x; --")) {
      Http stranger = service.http().with("Cookie", ConsoleSession.COOKIE + "=" + id);
      assertThat(stranger.get("/api/v1/overview").status()).as(id).isEqualTo(401);
    }
  }

  @Test
  void expiredSessionsAreDeleted() {
    Scenario apart = Scenario.create();
    try (apart;
        Service purging =
            apart.startService(
                "server.servlet.session.timeout", "1s",
                "order-timeout.deadline.purge-interval", "1s")) {
      ConsoleSession session = operator(purging);

      await("no session is left")
          .until(() -> apart.database().count("select count(*) from console_session") == 0);
      assertThat(session.userAt(purging)).isEmpty();
    }
  }

  private static ConsoleSession operator(Service service) {
    return ConsoleSession.begin(service.http(), "operator", Http.OPERATOR_PASSWORD);
  }
}
