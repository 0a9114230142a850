package io.ordertimeout.orders.deadline;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;
import org.springframework.transaction.annotation.Transactional;

/** The orders, for operators; the way of an event uses {@link OrderEventStatements}. */
public interface OrderDeadlineRepository extends Repository<OrderDeadline, String> {

  /** The order of that id. */
  Optional<OrderDeadline> findByOrderId(String orderId);

  /** The order of that id, locked until the end of the transaction. */
  @Query(
      nativeQuery = true,
      value = "select * from order_deadline where order_id = :orderId for update")
  Optional<OrderDeadline> lock(String orderId);

  /**
   * Orders in one of the states whose deadline lies in a window, by deadline and id; O(limit times
   * states) by an index.
   *
   * @param states names of the states
   * @param from the earliest deadline
   * @param to the first deadline that is too late
   * @param afterDeadline deadline of the last order of the page before
   * @param afterOrderId id of the last order of the page before
   * @param limit most orders to return
   */
  @Query(
      nativeQuery = true,
      value =
          """
          select d.* from unnest(cast(:states as text[])) as s(state)
          cross join lateral (
            select * from order_deadline o
            where o.state = s.state and o.deadline >= :from and o.deadline < :to
              and (o.deadline, o.order_id) > (:afterDeadline, cast(:afterOrderId as text) collate "C")
            order by o.deadline, o.order_id
            limit :limit
          ) d
          order by d.deadline, d.order_id
          limit :limit
          """)
  List<OrderDeadline> findByDeadline(
      String[] states,
      Instant from,
      Instant to,
      Instant afterDeadline,
      String afterOrderId,
      int limit);

  /**
   * Orders whose id begins with the prefix, in one of the states and with a deadline in the window
   * if they have one, by id.
   *
   * @param from the first id that begins with the prefix, or the last of the page before
   * @param inclusive whether {@code from} itself is meant
   * @param to the first id behind all that begin with the prefix
   */
  @Query(
      nativeQuery = true,
      value =
          """
          select * from order_deadline d
          where d.order_id >= cast(:from as text) collate "C"
            and d.order_id < cast(:to as text) collate "C"
            and (:inclusive or d.order_id <> cast(:from as text) collate "C")
            and d.state = any(cast(:states as text[]))
            and (d.deadline is null or d.deadline >= :dueFrom and d.deadline < :dueTo)
          order by d.order_id
          limit :limit
          """)
  List<OrderDeadline> findByPrefix(
      String from,
      boolean inclusive,
      String to,
      String[] states,
      Instant dueFrom,
      Instant dueTo,
      int limit);

  /** Moves the deadline of a pending order; says how many that were. */
  @Modifying
  @Query(
      nativeQuery = true,
      value =
          """
          update order_deadline set deadline = :deadline, extended_until = clock_timestamp()
          where order_id = :orderId and state = 'PENDING'
          """)
  int moveDeadline(String orderId, Instant deadline);

  /** Closes a pending order; says how many that were. */
  @Modifying
  @Query(
      nativeQuery = true,
      value =
          """
          update order_deadline set
            state = 'CLOSED', decided_at = clock_timestamp(), decided_by = 'OPERATOR',
            closed_at = clock_timestamp(), close_reason = :reason
          where order_id = :orderId and state = 'PENDING'
          """)
  int close(String orderId, String reason);

  /** Deletes at most {@code limit} orders settled before {@code before}; returns how many. */
  @Transactional
  @Modifying
  @Query(
      nativeQuery = true,
      value =
          """
          delete from order_deadline where order_id in (
            select order_id from order_deadline
            where state <> 'PENDING' and decided_at < :before
            order by decided_at limit :limit
          )
          """)
  int purgeSettled(Instant before, int limit);

  /** Deletes at most {@code limit} conflicts detected before {@code before}; returns how many. */
  @Transactional
  @Modifying
  @Query(
      nativeQuery = true,
      value =
          """
          delete from payment_conflict where (order_id, payment_id) in (
            select order_id, payment_id from payment_conflict
            where detected_at < :before
            order by detected_at limit :limit
          )
          """)
  int purgeConflicts(Instant before, int limit);

  /**
   * Deletes orders parked before {@code before} that are not pending any more, or never came;
   * returns how many.
   */
  @Transactional
  @Modifying
  @Query(
      nativeQuery = true,
      value =
          """
          delete from parked_order p where p.parked_at < :before and not exists (
            select from order_deadline d where d.order_id = p.order_id and d.state = 'PENDING')
          """)
  int purgeParked(Instant before);
}
