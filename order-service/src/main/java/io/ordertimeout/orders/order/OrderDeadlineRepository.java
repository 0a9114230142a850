package io.ordertimeout.orders.order;

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

  /** Finds the orders with those ids, in no particular order. */
  @Query(
      nativeQuery = true,
      value = "select * from order_deadline where order_id = any(cast(:orderIds as text[]))")
  List<OrderDeadline> findAll(String[] orderIds);

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

  /**
   * Makes an order due now, without grace and confirmation, if it is pending; returns the number of
   * orders.
   */
  @Modifying
  @Query(
      nativeQuery = true,
      value =
          """
          update order_deadline set
            deadline = :now, grace_seconds = null, confirm_seconds = null,
            extended_until = clock_timestamp(),
            latest_deadline = greatest(deadline, latest_deadline)
          where order_id = :orderId and (state = 'PENDING') is true
          """)
  int makeDue(String orderId, Instant now);

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
