package io.ordertimeout.orders.platform.postgres;

/**
 * What tells one server of Postgres, and one state of its tables, from another: commits can be lost
 * only when a server ends (it crashes, a standby takes its place, a copy of its files is started)
 * or when its tables are replaced (a dump is restored). A server has its own start time, and tables
 * that are created again have their own object ids.
 */
public final class ServerIdentity {

  /**
   * SQL expression: the identity of the server that answers, as text. The database's id is part of
   * it, because a database that is copied from another one keeps the ids of its tables.
   */
  public static final String SQL =
      """
      concat_ws('/', extract(epoch from pg_postmaster_start_time()),
        (select oid from pg_database where datname = current_database()),
        'order_deadline'::regclass::oid)""";

  private ServerIdentity() {}
}
