package io.ordertimeout.it.failover;

import static io.ordertimeout.it.support.SuspensionRows.HOLDS;
import static io.ordertimeout.it.support.SuspensionRows.HOLDS_IN_FORCE;
import static io.ordertimeout.it.support.SuspensionRows.PAUSES;
import static io.ordertimeout.it.support.SuspensionRows.PAUSES_IN_FORCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Instance;
import io.ordertimeout.it.support.Interceptors;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.orders.position.ReadBackState;
import io.ordertimeout.orders.suspension.Suspensions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.dao.DataAccessException;
import tools.jackson.databind.JsonNode;

/** Pauses and holds that Postgres has lost are in force before anything is decided again. */
@Tag("faults")
@Order(20)
class LostSuspensionsIT extends FailoverFixture {

  private static final String CONTENT =
      """
      select concat_ws(' ', channel, placed_by_kind, placed_by, reason, moves_deadlines, began_at,
        ends_at)
      from suspension where channel = 'web'
      """;

  @Test
  void whatWasInForceIsInForceAgainAndWhatHadEndedIsNot() {
    try (Service service = scenario().startService()) {
      scenario()
          .shop()
          .created(
              "paused",
              Map.of("payBy", Scenario.in(Duration.ofHours(1)).toString(), "channel", "web"));
      awaitStates(List.of("paused"), "PENDING");
      int paused = (int) database().count("select shard from order_deadline");
      int held = (paused + 1) % Scenario.PARTITIONS;
      scenario().createPending("held", held);
      scenario().createPending("other", paused);
      scenario().awaitQuiet();
      pair().cutReplication();
      service.endPause(service.pause(Map.of("channel", "ended", "moveDeadlines", false)));
      service.pause(
          Map.of(
              "channel",
              "web",
              "moveDeadlines",
              true,
              "endsAt",
              Scenario.in(Duration.ofHours(1)).toString()));
      Suspensions suspensions = service.bean(Suspensions.class);
      suspensions.holdForLostRecords(List.of(paused, held), "lost by a test");
      lift(service, hold(suspensions, paused));
      String before = database().text(CONTENT);

      failOverToOrdersThatAreDue("paused", "held", "other");

      outcomes().awaitCancelled("other");
      await("the orders to be suspended")
          .until(() -> service.gauge("order.timeout.suspended") == 2);
      assertThat(database().state("paused")).isEqualTo("PENDING");
      assertThat(database().state("held")).isEqualTo("PENDING");
      assertThat(database().count(PAUSES)).isEqualTo(1);
      assertThat(database().text(CONTENT)).isEqualTo(before);
      assertThat(database().count(HOLDS)).isEqualTo(1);

      JsonNode action = service.http().viewer().get("/api/v1/audit").json().at("/data/0");
      assertThat(action.path("actor").asString()).isEqualTo("service");
      assertThat(action.path("reason").asString())
          .contains("operator had placed it", "the payment provider is down");
      lift(service, hold(suspensions, held));
      service.endPause(action.path("subject").asString());
      outcomes().awaitCancelled("held");
      outcomes().awaitCancelled("paused");
    }
  }

  /** Its instance looks for changes of the pauses once a second, and may read back faster. */
  @Test
  void nothingIsDecidedBeforeALostPauseIsInForceAgain() {
    AtomicBoolean unread = new AtomicBoolean();
    try (Service service = scenario().startService(List.of(withoutRefreshes(unread)))) {
      scenario().createPending("paused", 0);
      scenario().awaitQuiet();
      pair().cutReplication();
      service.pause(Map.of("moveDeadlines", false));
      unread.set(true);

      failOverToOrdersThatAreDue("paused");

      await("the read-back")
          .ignoreExceptionsInstanceOf(DataAccessException.class)
          .until(() -> service.bean(ReadBackState.class).isReflected("any order"));
      assertThat(database().count(PAUSES_IN_FORCE)).isEqualTo(1);
      unread.set(false);
      await("the order to be suspended").until(() -> service.gauge("order.timeout.suspended") == 1);
      assertThat(database().state("paused")).isEqualTo("PENDING");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void severalInstancesPlaceThemAgainOnce(boolean failover) {
    try (Service one = scenario().startService();
        Service other = scenario().startService()) {
      Instance.awaitShared(one, other);
      scenario().createPending("paused", 0);
      scenario().awaitQuiet();
      pair().cutReplication();
      one.pause(Map.of("moveDeadlines", false));
      one.bean(Suspensions.class).holdForLostRecords(List.of(0), "lost by a test");
      for (Service each : List.of(one, other)) {
        await("the pause and the hold to be known")
            .until(
                () ->
                    each.gauge("order.timeout.expiry.paused") == 1
                        && each.bean(Suspensions.class).isHeld(0));
      }

      if (failover) {
        failOverToOrdersThatAreDue("paused");
      } else {
        // As the restoration of a dump does.
        database().execute("delete from suspension");
        passDeadlines(List.of("paused"));
      }

      await("the pause and the hold")
          .until(
              () -> database().count(PAUSES_IN_FORCE) > 0 && database().count(HOLDS_IN_FORCE) > 0);
      for (Service each : List.of(one, other)) {
        each.awaitReady(true);
        await("the order to be suspended").until(() -> each.gauge("order.timeout.suspended") == 1);
      }
      assertThat(database().count(PAUSES)).isEqualTo(1);
      assertThat(database().count(HOLDS_IN_FORCE)).isEqualTo(1);
      assertThat(database().state("paused")).isEqualTo("PENDING");

      String again = database().text("select id::text from suspension where shard is null");
      other.endPause(again);
      lift(other, hold(other.bean(Suspensions.class), 0));
      outcomes().awaitCancelled("paused");
      for (Service each : List.of(one, other)) {
        await("no pause").until(() -> each.gauge("order.timeout.expiry.paused") == 0);
      }
      assertThat(database().count(PAUSES_IN_FORCE)).isZero();
      assertThat(database().count(HOLDS_IN_FORCE)).isZero();
    }
  }

  /** The services reach a server that lacks what was committed after the replication was cut. */
  private void failOverToOrdersThatAreDue(String... orderIds) {
    pair().crashPrimary();
    pair().promote();
    passDeadlines(List.of(orderIds));
    pair().connectClients();
  }

  private static long hold(Suspensions suspensions, int shard) {
    return suspensions.concerning(null, shard).stream()
        .filter(suspension -> !suspension.isPause())
        .findFirst()
        .orElseThrow()
        .id();
  }

  private static void lift(Service service, long hold) {
    service
        .http()
        .operator()
        .post("/api/v1/holds/" + hold + "/lift", Map.of("reason", "nothing was lost"))
        .assertOk();
  }

  /** The periodic task cannot read the pauses while the flag is set. */
  private static BeanPostProcessor withoutRefreshes(AtomicBoolean unread) {
    return Interceptors.made(
        DataSource.class,
        Connection.class,
        call -> {
          if (unread.get()
              && Thread.currentThread().getName().equals("suspensions")
              && call.getMethod().getName().startsWith("prepare")
              && String.valueOf(call.getArguments()[0]).contains("from suspension")) {
            throw new SQLException("the pauses are not read, as the test demands");
          }
          return call.proceed();
        });
  }
}
