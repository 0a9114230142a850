package io.ordertimeout.orders.order;

import io.ordertimeout.orders.suspension.PaymentAttempt;
import java.util.List;

/**
 * Events that are stored together; each list is in the order of arrival.
 *
 * @param created created orders
 * @param settled payments and closures
 * @param attempts events of payment attempts
 * @param changes changes of orders
 */
public record OrderEventBatch(
    List<OrderCreated> created,
    List<OrderSettled> settled,
    List<PaymentAttempt> attempts,
    List<OrderChange> changes) {}
