package io.ordertimeout.it.upgrade;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.util.Map;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The pauses and holds of release 0.1.0, which were in two tables. */
class EarlierSuspensionsIT {

  private static final String PAUSES =
      """
      insert into expiry_pause (
        channel, placed_by_kind, placed_by, reason, moves_deadlines, began_at, ends_at, ended_at,
        ended_by)
      values
        (null, 'BREAKER', 'breaker', 'too many', true, '2020-01-01Z', null, '2020-01-02Z', 'anna'),
        ('web', 'OPERATOR', 'anna', 'a drill', false, '2020-02-01Z', '2099-01-01Z', null, null),
        (null, 'OPERATOR', 'bert', 'purged', false, '2020-02-01Z', null, now(), 'bert')
      """;

  private static final String HOLDS =
      """
      insert into expiry_hold (shard, reason, detail, placed_at, lifted_at)
      values
        (0, 'LOST_RECORDS', 'lifted', '2020-03-01Z', '2020-03-02Z'),
        (1, 'LOST_RECORDS', 'in force', '2020-04-01Z', null)
      """;

  @Test
  void theyStayInForceAndPausesKeepTheirNumbers() {
    try (Scenario scenario = Scenario.withoutTables()) {
      Database database = scenario.database();
      Flyway.configure().dataSource(database.source()).target("17").load().migrate();
      database.execute(PAUSES);
      database.execute("delete from expiry_pause where reason = 'purged'");
      database.execute(HOLDS);

      try (Service service = scenario.startService()) {
        service.awaitReady(true);
        Http operator = service.http().operator();
        JsonNode pauses = operator.get("/api/v1/pauses").json().path("data");
        assertThat(pauses).hasSize(2);
        assertThat(pauses.get(0).path("id").asInt()).isEqualTo(2);
        assertThat(pauses.get(0).path("channel").asString()).isEqualTo("web");
        assertThat(pauses.get(0).path("endsAt").asString()).isEqualTo("2099-01-01T00:00:00Z");
        assertThat(pauses.get(1).path("id").asInt()).isEqualTo(1);
        assertThat(pauses.get(1).path("placedByKind").asString()).isEqualTo("BREAKER");
        assertThat(pauses.get(1).path("moveDeadlines").asBoolean()).isTrue();
        assertThat(pauses.get(1).path("beganAt").asString()).isEqualTo("2020-01-01T00:00:00Z");
        assertThat(pauses.get(1).path("endedAt").asString()).isEqualTo("2020-01-02T00:00:00Z");
        assertThat(pauses.get(1).path("endedBy").asString()).isEqualTo("anna");

        JsonNode holds = operator.get("/api/v1/holds").json().path("data");
        assertThat(holds).hasSize(1);
        assertThat(holds.get(0).path("id").asInt()).isEqualTo(5);
        assertThat(holds.get(0).path("shard").asInt()).isEqualTo(1);
        assertThat(holds.get(0).path("reason").asString()).isEqualTo("LOST_RECORDS");
        assertThat(holds.get(0).path("detail").asString()).isEqualTo("in force");
        assertThat(holds.get(0).path("placedAt").asString()).isEqualTo("2020-04-01T00:00:00Z");

        scenario.create("free", 0, Scenario.in(Duration.ofSeconds(1)));
        scenario.create("held", 1, Scenario.in(Duration.ofSeconds(1)));
        scenario.outcomes().awaitCancelled("free");
        await("the order to be suspended")
            .until(() -> service.gauge("order.timeout.suspended") == 1);
        assertThat(database.state("held")).isEqualTo("PENDING");

        operator.post("/api/v1/holds/5/lift", Map.of("reason", "nothing was lost")).assertOk();
        scenario.outcomes().awaitCancelled("held");

        // The number of the purged pause and those of the holds are not given again.
        String next = service.pause(Map.of("channel", "next", "moveDeadlines", false));
        assertThat(next).isEqualTo("6");
      }
    }
  }
}
