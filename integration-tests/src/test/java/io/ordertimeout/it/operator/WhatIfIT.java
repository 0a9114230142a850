package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.util.stream.StreamSupport;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.JsonNode;

/** What shops ask for: which timeout is right? */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WhatIfIT {

  /** The estimate is of six orders each of 500 parts of the time. */
  private static final Percentage ABOUT = Percentage.withPercentage(12);

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();
  private final Service service = scenario.startService();
  private final Http viewer = service.http().viewer();

  /** A week of orders, all with 15 minutes to pay. Those of a moment paid at once. */
  @BeforeAll
  void settle() {
    database.execute(
        """
        insert into order_deadline (
          order_id, shard, state, created_at, deadline, channel, payment_method, amount, currency,
          decided_at, decided_by, paid_at, payment_id)
        select 'order-' || i, i % 3, case when paid then 'PAID' else 'CANCELLED' end, t,
          t + interval '15 min', case when i % 3 = 0 then 'app' else 'web' end, 'Card', 10, 'EUR',
          case when paid then t + to_pay else t + interval '15 min' end,
          case when paid then 'PAYMENT' else 'EXPIRY' end,
          case when paid then t + to_pay end, case when paid then 'p' end
        from generate_series(1, 40000) i
        cross join lateral (
          select now() - interval '20 min' - i * interval '15 s' as t, i % 10 < 7 as paid,
            make_interval(secs => i % 14 * 60 + 30) as to_pay
        ) o
        """);
    database.execute(
        """
        insert into outbox (order_row, payment_id, shard, written_at, published_at, paid_at)
        select id, 'late', shard, decided_at, decided_at, created_at + interval '18 min'
        from order_deadline where state = 'CANCELLED' and channel = 'app'
        """);
    database.execute("vacuum analyze");
  }

  @Test
  void aShorterTimeoutWouldHaveCancelledOrdersThatWerePaidLaterAndReleasedStockEarlier() {
    JsonNode answer = whatIf("timeout", "PT10M");

    long paidLater = count("state = 'PAID' and paid_at > created_at + interval '10 min'");
    assertThat(paidLater).isGreaterThan(5_000);
    assertThat(answer.path("sampled").asInt()).isBetween(2_900, 3_000);
    assertThat(answer.path("presentTimeout").asString()).isEqualTo("PT15M");
    assertThat(answer.path("paid").asLong()).isCloseTo(count("state = 'PAID'"), ABOUT);
    assertThat(answer.at("/wouldBeCancelled/orders").asLong()).isCloseTo(paidLater, ABOUT);
    assertThat(answer.at("/wouldBeCancelled/amounts/0/currency").asString()).isEqualTo("EUR");
    assertThat(Double.parseDouble(answer.at("/wouldBeCancelled/amounts/0/value").asString()))
        .isCloseTo(10.0 * paidLater, ABOUT);
    Duration released = Duration.parse(answer.path("releasedEarlier").asString());
    assertThat(released.toMinutes()).isCloseTo(5 * count("state = 'CANCELLED'"), ABOUT);
    assertThat(answer.path("timesToPay")).hasSize(15);
    assertThat(
            StreamSupport.stream(answer.path("timesToPay").spliterator(), false)
                .mapToLong(step -> step.path("paid").asLong())
                .sum())
        .isCloseTo(count("state = 'PAID'"), ABOUT);
  }

  @Test
  void aLongerTimeoutWouldHaveSavedOrdersThatWerePaidTooLate() {
    JsonNode answer = whatIf("timeout", "PT20M", "channel", "APP", "paymentMethod", "card");

    long cancelled = count("state = 'CANCELLED' and channel = 'app'");
    assertThat(answer.path("cancelled").asLong()).isCloseTo(cancelled, ABOUT);
    assertThat(answer.at("/wouldBePaid/orders").asLong()).isCloseTo(cancelled, ABOUT);
    assertThat(answer.at("/wouldBeCancelled/orders").asLong()).isZero();
    assertThat(answer.path("releasedEarlier").asString()).isEqualTo("PT0S");
    assertThat(whatIf("timeout", "PT20M", "channel", "none").path("sampled").asInt()).isZero();
  }

  @Test
  void aTimeoutWithoutAUnitIsRefused() {
    for (String wrong : new String[] {"600", "10m", "PT0S", "P366D", "P1M", ""}) {
      assertThat(viewer.get("/api/v1/policies/what-if", "timeout", wrong).status())
          .as(wrong)
          .isEqualTo(400);
    }
    assertThat(viewer.get("/api/v1/policies/what-if").status()).isEqualTo(400);
  }

  private JsonNode whatIf(String... parameters) {
    return viewer.get("/api/v1/policies/what-if", parameters).assertOk().json();
  }

  private long count(String condition) {
    return database.count(
        "select count(*) from order_deadline where greatest(decided_at, deadline, latest_deadline)"
            + " > now() - interval '7 days' and "
            + condition);
  }
}
