package io.ordertimeout.orders.order;

import io.ordertimeout.orders.outbox.OutboxEvent;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

/**
 * The result of a batch of events, once it is committed.
 *
 * @param toArm pending orders whose deadlines belong in the wheel
 * @param toDisarm orders that are no longer pending
 * @param conflicts events that were written to the outbox
 * @param created number of created orders by outcome
 * @param paid number of payments by outcome
 * @param closed number of closures by outcome
 * @param attempts number of events of payment attempts by outcome
 * @param changes number of changes by outcome
 * @param paidAmounts the amounts of the pending orders that were paid, by currency
 * @param misplaced number of events of settling topics from another partition than their order's
 */
public record StoredBatch(
    List<PendingOrder> toArm,
    List<PendingOrder> toDisarm,
    List<OutboxEvent> conflicts,
    Map<Outcome, Integer> created,
    Map<Outcome, Integer> paid,
    Map<Outcome, Integer> closed,
    Map<Outcome, Integer> attempts,
    Map<Outcome, Integer> changes,
    Map<String, BigDecimal> paidAmounts,
    int misplaced) {}
