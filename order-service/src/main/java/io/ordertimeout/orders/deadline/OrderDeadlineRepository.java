package io.ordertimeout.orders.deadline;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

/** The orders as operators read and change them; events use {@link OrderEventStatements}. */
public interface OrderDeadlineRepository extends Repository<OrderDeadline, String> {

  /** Finds an order. */
  Optional<OrderDeadline> findByOrderId(String orderId);

  /** Finds an order and locks it until the end of the transaction. */
  @Query(
      nativeQuery = true,
      value = "select * from order_deadline where order_id = :orderId for update")
  Optional<OrderDeadline> lock(String orderId);

  /**
   * Finds the orders in one of the states whose deadlines lie in a window, by deadline and row;
   * O(limit times states and shards), by an index.
   *
   * @param states names of the states
   * @param shards number of shards
   * @param from earliest deadline, inclusive
   * @param to latest deadline, exclusive
   * @param afterDeadline deadline of the last order on the previous page
   * @param afterId row of the last order on the previous page
   * @param limit maximum number of orders to return
   */
  @Query(
      nativeQuery = true,
      value =
          """
          select d.* from (
            select o.* from unnest(cast(:states as text[])) as s(state)
            cross join lateral (
              select * from order_deadline o
              where o.state = s.state and o.state <> 'PENDING'
                and o.deadline >= :from and o.deadline < :to
                and (o.deadline, o.id) > (:afterDeadline, :afterId)
              order by o.deadline, o.id
              limit :limit
            ) o
            union all
            select o.* from generate_series(0, :shards - 1) as s(shard)
            cross join lateral (
              select * from order_deadline o
              where o.shard = s.shard and o.state = 'PENDING'
                and 'PENDING' = any(cast(:states as text[]))
                and o.deadline >= :from and o.deadline < :to
                and (o.deadline, o.id) > (:afterDeadline, :afterId)
              order by o.deadline, o.id
              limit :limit
            ) o
          ) d
          order by d.deadline, d.id
          limit :limit
          """)
  List<OrderDeadline> findByDeadline(
      String[] states,
      int shards,
      Instant from,
      Instant to,
      Instant afterDeadline,
      long afterId,
      int limit);

  /**
   * Finds the orders whose ids begin with a prefix, in one of the states and, if they have a
   * deadline, with a deadline in the window; by id.
   *
   * @param from first id that begins with the prefix, or the last id on the previous page
   * @param inclusive whether an order with the id {@code from} is included
   * @param to first id after all ids that begin with the prefix
   */
  @Query(
      nativeQuery = true,
      value =
          """
          select * from (
            select * from order_deadline o
            where o.order_id >= cast(:from as text) collate "C"
              and o.order_id < cast(:to as text) collate "C"
              and (:inclusive or o.order_id <> cast(:from as text) collate "C")
            order by o.order_id
            -- Keeps the other conditions from leading to another index.
            offset 0
          ) d
          where d.state = any(cast(:states as text[]))
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

  /** Moves the deadline of an order if it is pending; returns the number of moved orders. */
  @Modifying
  @Query(
      nativeQuery = true,
      value =
          """
          update order_deadline set
            deadline = :deadline, extended_until = clock_timestamp(),
            latest_deadline = greatest(deadline, latest_deadline)
          where order_id = :orderId and (state = 'PENDING') is true
          """)
  int moveDeadline(String orderId, Instant deadline);

  /** Closes an order if it is pending; returns the number of closed orders. */
  @Modifying
  @Query(
      nativeQuery = true,
      value =
          """
          update order_deadline set
            state = 'CLOSED', decided_at = clock_timestamp(), decided_by = 'OPERATOR',
            closed_at = clock_timestamp(), close_reason = :reason
          where order_id = :orderId and (state = 'PENDING') is true
          """)
  int close(String orderId, String reason);
}
