package io.ordertimeout.it.oracle;

import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Database;
import java.util.List;

/**
 * A trigger that notes every change which no order may undergo: a terminal state that becomes
 * another, a deadline that moves, a row that disappears. It costs nothing while there is none.
 */
final class ChangeWatch {

  private final Database database;

  private ChangeWatch(Database database) {
    this.database = database;
  }

  /** Watches from now on; the service has to have made its tables. */
  static ChangeWatch on(Database database) {
    database.execute(
        """
        create table rig_change (
          order_id text, was text, became text, at timestamptz default clock_timestamp());
        create function rig_note_change() returns trigger language plpgsql as $$
        begin
          insert into rig_change (order_id, was, became)
          values (old.order_id, old::text, case when tg_op = 'UPDATE' then new::text end);
          return null;
        end $$;
        create trigger rig_changed after update on order_deadline for each row
        when (
          (old.state <> 'PENDING' and new.state is distinct from old.state)
          or (old.deadline is not null and new.deadline is distinct from old.deadline))
        execute function rig_note_change();
        create trigger rig_deleted after delete on order_deadline for each row
        execute function rig_note_change();
        """);
    return new ChangeWatch(database);
  }

  List<Violation> violations() {
    return database.query(
        "select order_id, was, became, at::text as at from rig_change",
        (rs, row) ->
            new Violation(
                Kind.DECIDED_TWICE,
                rs.getString("order_id") + " changed at " + rs.getString("at"),
                "    " + rs.getString("was") + "\n    " + rs.getString("became")));
  }
}
