package io.ordertimeout.it.safeguard;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A safeguard of the service that {@link SafeguardRemover} can remove. */
enum Safeguard {
  /** Waits until all payments that were appended before the deadline are stored. */
  WATERMARK_GATE,
  /** Waits for closures as well as for payments. */
  CLOSINGS_IN_ENDS,
  /** Reads the watermark's time before it asks where the payments and closures end. */
  TIME_BEFORE_ENDS,
  /** Cancels an order only if it is still pending. */
  STATE_CHECK_IN_DECISION(
      "set state = 'CANCELLED'", "and \\((\\w\\.)?state = 'PENDING'\\) is true", ""),
  /** Checks the watermark again in the deciding statement. */
  WATERMARK_IN_DECISION(
      "set state = 'CANCELLED'", "least\\((\\?[^,]*),", "least(greatest($1, 'infinity'),"),
  /** Cancels an order only if Postgres's clock has passed its deadline. */
  POSTGRES_CLOCK_IN_DECISION(
      "set state = 'CANCELLED'",
      "(least\\(\\?[^,]*, *|timestamptz <= )clock_timestamp\\(\\)",
      "$1'infinity'"),
  /** Cancels an order only by a watermark that is not ahead of Postgres's clock. */
  WATERMARK_NOT_AHEAD_IN_DECISION(
      "set state = 'CANCELLED'",
      "timestamptz <= clock_timestamp\\(\\)",
      "timestamptz <= 'infinity'"),
  /** Cancels an order only if Postgres itself has stored everything below the ends. */
  POSITIONS_IN_DECISION(
      "set state = 'CANCELLED'",
      "(?s)not exists \\(\\s*select from unnest.*?where p\\.topic is null\\)",
      "(true or $0)"),
  /** Cancels an order only on the server of Postgres that the instance has read back. */
  SERVER_IN_DECISION(
      "set state = 'CANCELLED'", "(?s)concat_ws\\('/', .*?::oid\\) = \\?", "(true or $0)"),
  /** Advances a position only from the value that the instance knows. */
  POSITIONS_IN_STORING("update intake_position p", "and p\\.next_offset = i\\.known", ""),
  /** Stores events only on the server of Postgres that the consumer knows. */
  SERVER_IN_STORING(
      "update intake_position p", "(?s)concat_ws\\('/', .*?::oid\\) = \\?", "(true or $0)"),
  /** Restores published cancellations that Postgres has lost. */
  READ_BACK("select i.order_id from unnest", "where not exists", "where false and not exists"),
  /** Does not cancel an order that may have been paid or closed by an undecodable record. */
  PARKING(
      "set state = 'CANCELLED'",
      "not exists \\(select from parked_order p where p\\.order_id = d\\.order_id offset 0\\)",
      "true"),
  /** Does not cancel an order of which a payment is under way. */
  HOLD_IN_DECISION(
      "set state = 'CANCELLED'",
      "(?s)and (not exists \\(select from payment_attempt a.*?offset 0\\))",
      "and (true or $1)"),
  /** Keeps a decided event in Postgres until Kafka has acknowledged it. */
  OUTBOX,
  /** Counts an event or a dead letter as published only once Kafka has acknowledged it. */
  ACKNOWLEDGEMENT,
  /** Publishes a repeated event under the id of the first one. */
  STABLE_EVENT_IDS,
  /** Settles an order only if it is still pending. */
  STATE_CHECK_IN_SETTLING(
      "close_reason = excluded.close_reason", "where \\w\\.state = 'PENDING'", ""),
  /** Registers an order only once. */
  CREATION_CHECK_IN_REGISTRATION(
      "insert into order_deadline", "where \\w\\.created_at is null", ""),
  /** Closes an order as stale only if its deadline passed long before it was created. */
  STALENESS_IN_REGISTRATION(
      "as stale",
      "d\\.deadline \\+ (make_interval\\(secs => \\?(?: \\+ coalesce\\(d\\.grace_seconds, 0\\))?\\))"
          + " \\+ interrupted\\.length\\s*< now\\(\\) - (make_interval\\(secs => \\?\\))",
      "($1 + $2) is not null"),
  /** Stores the rows of a batch that Postgres accepts although it rejects another one. */
  ISOLATION_OF_REJECTED_ROWS,
  /** Raises a conflict only if the order is cancelled or closed. */
  STATE_CHECK_IN_CONFLICTS(
      "select d.id, d.order_id, d.shard, d.state", "d\\.state", "'CANCELLED' as state"),
  /** Remembers the conflict of a payment after it was published. */
  CONFLICT_DEDUPLICATION,
  /** Commits offsets to Kafka only after the records are stored. */
  KAFKA_COMMIT_AFTER_STORE,
  /** Keeps settled orders until their deadlines are as old as their decisions have to be. */
  DEADLINE_IN_PURGE(
      "where state <> 'PENDING' and deadline is not null",
      "greatest\\(decided_at, deadline, latest_deadline\\) <",
      "decided_at <"),
  /** Closes orders as stale that may have been purged, instead of registering them again. */
  HORIZON_OF_PURGE(
      "< (select orders_before from purge_horizon)",
      "and d\\.deadline < \\(select orders_before from purge_horizon\\)",
      "and false"),
  /** Stores positions in Postgres in the same transaction as the records. */
  POSTGRES_POSITIONS_WITH_STORE,
  /** Arms due orders again that the decision left pending. */
  REARMING("as suspended", "(\\w\\.)?state = 'PENDING'", "false and $0"),
  /** Arms orders in the wheel once they are registered. */
  ARMING_OF_REGISTERED,
  /** Loads the pending orders of a shard when it is taken over. */
  REBUILD("(deadline, id) >", "and \\(deadline, id\\) >", "and false and (deadline, id) >"),
  /** Compares the wheel with Postgres, for which it pages through the pending orders. */
  RECONCILER("(deadline, id) >", "and \\(deadline, id\\) >", "and false and (deadline, id) >");

  private final String fragment;
  private final Pattern part;
  private final String replacement;

  /** A safeguard that is not removed by rewriting one statement. */
  Safeguard() {
    this("", "", "");
  }

  /**
   * A part of a statement.
   *
   * @param fragment identifies the statement
   * @param part pattern of the part
   * @param replacement what removes the safeguard
   */
  Safeguard(String fragment, String part, String replacement) {
    this.fragment = fragment;
    this.part = Pattern.compile(part);
    this.replacement = replacement;
  }

  /** Returns whether a part of this statement is the safeguard. */
  boolean isIn(String sql) {
    if (fragment.isEmpty() || !sql.contains(fragment)) {
      return false;
    }
    // Settlements are inserted into the same table.
    return this != CREATION_CHECK_IN_REGISTRATION || part.matcher(sql).find();
  }

  /**
   * Returns the statement without the safeguard.
   *
   * @throws IllegalStateException if the statement does not contain it
   */
  String removedFrom(String sql) {
    Matcher found = part.matcher(sql);
    if (!found.find()) {
      throw new IllegalStateException(this + ": '" + part + "' does not occur in: " + sql);
    }
    return found.replaceAll(replacement);
  }
}
