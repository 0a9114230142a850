package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.order.OrderView;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Everything that is known of one order.
 *
 * @param order the order
 * @param explanation one sentence that states what became of it and why, or what it waits for
 * @param movesBy how far its deadline still has to move because of interruptions, such as PT0.134S;
 *     null if it does not
 * @param waitsFor what stands between it and its decision; empty if it is decided
 * @param history what has happened to it, in order
 */
public record OrderDetails(
    OrderView order,
    String explanation,
    @Nullable Duration movesBy,
    List<OrderBlocker> waitsFor,
    List<OrderHistory.Entry> history) {}
