package io.ordertimeout.it.oracle;

import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Database;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A trigger in Postgres that records every forbidden change of an order: a change of a final state,
 * a moved deadline, a deleted row. It costs nothing while there is none.
 */
final class ForbiddenChangeTrigger {

  private final Database database;

  private ForbiddenChangeTrigger(Database database) {
    this.database = database;
  }

  /** Installs the trigger; the service must have created its tables. */
  static ForbiddenChangeTrigger installIn(Database database) {
    database.execute(
        """
        create table oracle_change (
          order_id text, was text, became text, at timestamptz default clock_timestamp(),
          cancelled_at timestamptz);
        create function oracle_record_change() returns trigger language plpgsql as $$
        begin
          insert into oracle_change (order_id, was, became, cancelled_at)
          values (
            old.order_id,
            old::text,
            case when tg_op = 'UPDATE' then new::text end,
            case when tg_op = 'UPDATE' and new.state = 'CANCELLED' then new.decided_at end);
          return null;
        end $$;
        create trigger oracle_changed after update on order_deadline for each row
        when (
          (old.state <> 'PENDING' and new.state is distinct from old.state)
          or (old.deadline is not null and new.deadline is distinct from old.deadline))
        execute function oracle_record_change();
        create trigger oracle_deleted after delete on order_deadline for each row
        execute function oracle_record_change();
        """);
    return new ForbiddenChangeTrigger(database);
  }

  /**
   * Returns the recorded changes of the matching order ids.
   *
   * @param allowed whether a change of the order to a cancellation of that time is none of them
   */
  List<Violation> violations(Predicate<String> orderIds, BiPredicate<String, Instant> allowed) {
    return database
        .query(
            "select order_id, was, became, at::text as at, cancelled_at from oracle_change",
            (rs, row) ->
                new Change(
                    rs.getString("order_id"),
                    rs.getString("was"),
                    rs.getString("became"),
                    rs.getString("at"),
                    rs.getObject("cancelled_at", OffsetDateTime.class)))
        .stream()
        .filter(change -> orderIds.test(change.orderId()))
        .filter(
            change ->
                change.cancelledAt() == null
                    || !allowed.test(change.orderId(), change.cancelledAt().toInstant()))
        .map(
            change ->
                new Violation(
                    Kind.DECIDED_TWICE,
                    change.orderId() + " changed at " + change.at(),
                    "    " + change.was() + "\n    " + change.became()))
        .toList();
  }

  private record Change(
      String orderId, String was, String became, String at, @Nullable OffsetDateTime cancelledAt) {}
}
