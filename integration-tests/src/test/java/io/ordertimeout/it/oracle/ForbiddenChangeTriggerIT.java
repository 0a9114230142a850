package io.ordertimeout.it.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.oracle.RowChange.PublishedDecisions;
import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Scenario;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the trigger records of changes in the service's table. */
@Tag("faults")
class ForbiddenChangeTriggerIT {

  private static final List<String> CHANGES =
      List.of(
          "shard = 9",
          "created_at = now()",
          "deadline = now()",
          "policy = 'other'",
          "channel = 'other'",
          "payment_method = 'other'",
          "amount = 9",
          "currency = 'XXX'",
          "decided_at = now()",
          "decided_by = 'STALE'",
          "payment_id = 'other'",
          "paid_at = now()",
          "closed_at = now()",
          "close_reason = 'other'",
          "extended_until = now()",
          "registered_at = now()",
          "traceparent = 'other'",
          "latest_deadline = now()",
          "settled_in = 9");

  @Test
  void everyChangeIsRecordedExceptDecisions() {
    try (Scenario scenario = Scenario.create()) {
      Database database = scenario.database();
      ForbiddenChangeTrigger trigger = ForbiddenChangeTrigger.installIn(database);
      for (String orderId : List.of("paid", "cancelled", "pending")) {
        database.execute(
            """
            insert into order_deadline (order_id, shard, state, created_at, deadline)
            values (?, 0, 'PENDING', now() - interval '1 h', now() + interval '1 h')
            """,
            orderId);
      }
      update(
          database,
          "paid",
          "state = 'PAID', decided_at = now(), decided_by = 'PAYMENT', payment_id = 'p',"
              + " paid_at = now(), settled_in = 1");
      update(
          database, "cancelled", "state = 'CANCELLED', decided_at = now(), decided_by = 'EXPIRY'");
      update(database, "cancelled", "state = state");
      assertThat(kinds(trigger)).isEmpty();

      for (String orderId : List.of("paid", "cancelled")) {
        CHANGES.forEach(change -> update(database, orderId, change));
      }
      assertThat(kinds(trigger)).hasSize(2 * CHANGES.size()).containsOnly(Kind.ROW_CHANGED);
      // With its decision, or without it.
      update(database, "pending", "channel = 'other'");
      update(database, "pending", "state = 'CLOSED', decided_at = now(), deadline = now()");
      database.execute("delete from order_deadline where order_id = 'pending'");
      assertThat(kinds(trigger).subList(2 * CHANGES.size(), 2 * CHANGES.size() + 3))
          .containsExactly(Kind.ROW_CHANGED, Kind.DECIDED_TWICE, Kind.ROW_CHANGED);
      assertThat(trigger.violations("paid"::equals, PublishedDecisions.NONE))
          .hasSize(CHANGES.size());
    }
  }

  private static void update(Database database, String orderId, String change) {
    assertThat(
            database.execute(
                "update order_deadline set " + change + " where order_id = ?", orderId))
        .isEqualTo(1);
  }

  private static List<Kind> kinds(ForbiddenChangeTrigger trigger) {
    return trigger.violations(orderId -> true, PublishedDecisions.NONE).stream()
        .map(Violation::kind)
        .toList();
  }
}
