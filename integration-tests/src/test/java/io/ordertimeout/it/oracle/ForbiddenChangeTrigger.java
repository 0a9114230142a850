package io.ordertimeout.it.oracle;

import io.ordertimeout.it.oracle.RowChange.PublishedDecisions;
import io.ordertimeout.it.support.Database;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import tools.jackson.databind.json.JsonMapper;

/**
 * A trigger in Postgres that records every change of an order's row, of any column, except its
 * decision; see {@link RowChange} for those that are allowed.
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
          order_id text, at timestamptz default clock_timestamp(), before jsonb, after jsonb);
        create function oracle_record_change() returns trigger language plpgsql as $$
        begin
          if tg_op = 'UPDATE' and old.state = 'PENDING'
            and to_jsonb(old) - '{deadline,policy,extended_until,latest_deadline}'::text[]
              = to_jsonb(new) - '{deadline,policy,extended_until,latest_deadline}'::text[]
            -- Earlier versions have no such table.
            and to_regclass('order_change') is not null
          then
            if exists (
              select from order_change c
              where c.order_id = new.order_id and c.deadline = new.deadline)
            then
              return null;
            end if;
          end if;
          insert into oracle_change (order_id, before, after)
          values (
            old.order_id, to_jsonb(old), case when tg_op = 'UPDATE' then to_jsonb(new) end);
          return null;
        end $$;
        create trigger oracle_changed after update on order_deadline for each row
        when (
          not (
            old.state = 'PENDING' and new.state <> 'PENDING'
            and to_jsonb(old) - '{state,decided_at,decided_by,payment_id,paid_at,closed_at,\
        close_reason,settled_in}'::text[]
              = to_jsonb(new) - '{state,decided_at,decided_by,payment_id,paid_at,closed_at,\
        close_reason,settled_in}'::text[])
          and not (
            old.state = 'PENDING' and to_jsonb(old) - 'warned' = to_jsonb(new) - 'warned'
            and (to_jsonb(new) ->> 'warned')::int > coalesce((to_jsonb(old) ->> 'warned')::int, 0))
          and to_jsonb(old) <> to_jsonb(new))
        execute function oracle_record_change();
        create trigger oracle_deleted after delete on order_deadline for each row
        -- One of shard -1 only locked the id of an order that is not known.
        when (old.shard >= 0)
        execute function oracle_record_change();
        """);
    return new ForbiddenChangeTrigger(database);
  }

  /**
   * Returns the forbidden changes of the matching order ids.
   *
   * @param restorable the published decisions that may be restored
   */
  List<Violation> violations(Predicate<String> orderIds, PublishedDecisions restorable) {
    return database
        .query(
            "select order_id, at::text, before::text, after::text from oracle_change order by at",
            (rs, row) -> {
              String after = rs.getString("after");
              return new RowChange(
                  rs.getString("order_id"),
                  rs.getString("at"),
                  JsonMapper.shared().readTree(rs.getString("before")),
                  after == null ? null : JsonMapper.shared().readTree(after));
            })
        .stream()
        .filter(change -> orderIds.test(change.orderId()))
        .map(change -> change.violation(restorable))
        .flatMap(Optional::stream)
        .toList();
  }
}
