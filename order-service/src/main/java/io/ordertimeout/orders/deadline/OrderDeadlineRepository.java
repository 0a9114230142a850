package io.ordertimeout.orders.deadline;

import java.time.Instant;
import java.util.Optional;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;
import org.springframework.transaction.annotation.Transactional;

/** The orders, for operators; the way of an event uses {@link OrderEventStatements}. */
public interface OrderDeadlineRepository extends Repository<OrderDeadline, String> {

  /** The order of that id. */
  Optional<OrderDeadline> findByOrderId(String orderId);

  /** How many orders are in that state; O(orders in it). */
  long countByState(OrderState state);

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
