package io.ordertimeout.it.oracle;

import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Database;
import java.util.List;
import java.util.function.Predicate;

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
          order_id text, was text, became text, at timestamptz default clock_timestamp());
        create function oracle_record_change() returns trigger language plpgsql as $$
        begin
          insert into oracle_change (order_id, was, became)
          values (old.order_id, old::text, case when tg_op = 'UPDATE' then new::text end);
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

  /** Returns the recorded changes of the matching order ids. */
  List<Violation> violations(Predicate<String> orderIds) {
    return database
        .query(
            "select order_id, was, became, at::text as at from oracle_change",
            (rs, row) ->
                new Change(
                    rs.getString("order_id"),
                    rs.getString("was"),
                    rs.getString("became"),
                    rs.getString("at")))
        .stream()
        .filter(change -> orderIds.test(change.orderId()))
        .map(
            change ->
                new Violation(
                    Kind.DECIDED_TWICE,
                    change.orderId() + " changed at " + change.at(),
                    "    " + change.was() + "\n    " + change.became()))
        .toList();
  }

  private record Change(String orderId, String was, String became, String at) {}
}
