package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.deadline.OrderDeadlineRepository;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** All that is known of one order. Thread-safe. */
@Component
public class OrderLookup {

  /**
   * An order with its history and outlook.
   *
   * @param order how it stands
   * @param movesBy by how much its deadline is still to move, because of interruptions; null if by
   *     nothing
   * @param waitsFor what stands between it and its decision, in words; empty if it is decided
   * @param history what happened, in order
   */
  public record Known(
      OrderView order,
      @Nullable Duration movesBy,
      List<String> waitsFor,
      List<OrderHistory.Entry> history) {}

  private final OrderDeadlineRepository orders;
  private final OrderHistory history;
  private final OrderBlockers outlook;

  OrderLookup(OrderDeadlineRepository orders, OrderHistory history, OrderBlockers outlook) {
    this.orders = orders;
    this.history = history;
    this.outlook = outlook;
  }

  /** All that is known of the order of that id. */
  @Transactional(readOnly = true)
  public Optional<Known> find(String orderId) {
    return orders
        .findByOrderId(orderId)
        .map(
            order ->
                new Known(
                    OrderView.of(order),
                    outlook.movesBy(order),
                    outlook.waitsFor(order),
                    history.of(order)));
  }
}
