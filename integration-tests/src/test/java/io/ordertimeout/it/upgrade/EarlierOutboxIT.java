package io.ordertimeout.it.upgrade;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;

/** The events and publications of release 0.1.0, which were in four tables. */
class EarlierOutboxIT {

  // An order for each combination, named by it.
  private static final String EVENTS =
      """
      with orders as (
        insert into order_deadline (
          order_id, shard, state, created_at, deadline, policy, decided_at, decided_by)
        select
          name, number % 3, 'CANCELLED', now() - interval '2 h', now() - interval '1 h', 'DEFAULT',
          now() - interval '1 h', 'EXPIRY'
        from unnest(array['published', 'unpublished', 'announced again', 'unrecorded'])
          with ordinality as o(name, number)
        returning id, order_id, shard, created_at, deadline, decided_at
      ), published as (
        insert into published_cancellation (order_row, published_at)
        select id, now() - interval '30 min' from orders
        where order_id in ('published', 'announced again')
      ), unpublished as (
        insert into outbox (
          kind, order_row, order_id, shard, created_at, deadline, cancelled_at, written_at)
        select
          'ORDER_CANCELLED', id, order_id, shard, created_at, deadline, decided_at, decided_at
        from orders where order_id in ('unpublished', 'announced again')
      ), conflicts as (
        insert into payment_conflict (order_id, payment_id, paid_at, detected_at, published_at)
        select
          order_id, payment, now() - interval '20 min', now() - interval '20 min',
          case when payment = 'told' then now() - interval '10 min' end
        from orders cross join unnest(array['told', 'untold', 'unrecorded']) as payment
        where order_id = 'published'
      )
      insert into outbox (
        kind, order_id, payment_id, shard, created_at, deadline, cancelled_at, paid_at, written_at)
      select
        'ORDER_PAYMENT_CONFLICT', order_id, 'untold', shard, created_at, deadline, decided_at,
        now() - interval '20 min', now() - interval '20 min'
      from orders where order_id = 'published'
      """;

  @Test
  void whatWasUnpublishedIsPublishedAndNothingElse() {
    try (Scenario scenario = Scenario.withoutTables()) {
      Database database = scenario.database();
      Flyway.configure().dataSource(database.source()).target("16").load().migrate();
      database.execute(EVENTS);

      try (Service service = scenario.startService()) {
        service.awaitReady(true);
        scenario.outcomes().awaitCancelled("unpublished");
        scenario.outcomes().awaitCancelled("announced again");
        assertThat(scenario.outcomes().awaitConflicts("published", 1))
            .extracting(conflict -> conflict.text("paymentId"))
            .containsExactly("untold");
        await("the publications to be recorded").until(() -> database.unpublished() == 0);
        scenario.passDeadline("later", 0);
        scenario.awaitQuiet();

        assertThat(scenario.outcomes().cancelled())
            .extracting(event -> event.text("orderId"))
            .containsExactlyInAnyOrder("unpublished", "announced again", "later");
        assertThat(scenario.outcomes().conflicts()).hasSize(1);
        assertThat(
                database.query(
                    "select payment_id from outbox where payment_id <> '' order by 1",
                    (row, number) -> row.getString(1)))
            .containsExactly("told", "unrecorded", "untold");
        assertThat(
                database.count(
                    """
                    select count(*) from outbox o join order_deadline d on d.id = o.order_row
                    where d.order_id = 'published' and o.payment_id = ''
                      and o.published_at between now() - interval '40 min'
                        and now() - interval '20 min'
                    """))
            .isEqualTo(1);
      }
    }
  }
}
