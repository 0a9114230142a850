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
 * @param outcomes number of events by kind and outcome
 * @param paidAmounts the amounts of the pending orders that were paid, by currency
 * @param misplaced number of events of settling topics from another partition than their order's
 */
public record StoredBatch(
    List<PendingOrder> toArm,
    List<PendingOrder> toDisarm,
    List<OutboxEvent> conflicts,
    Map<EventKind, Map<Outcome, Integer>> outcomes,
    Map<String, BigDecimal> paidAmounts,
    int misplaced) {

  /** Returns how many events of a kind had an outcome. */
  public int count(EventKind kind, Outcome outcome) {
    return outcomes.getOrDefault(kind, Map.of()).getOrDefault(outcome, 0);
  }
}
