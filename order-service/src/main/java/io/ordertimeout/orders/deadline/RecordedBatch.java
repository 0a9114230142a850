package io.ordertimeout.orders.deadline;

import io.ordertimeout.orders.outbox.OutboxEvent;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

/**
 * What a committed batch of events came to.
 *
 * @param toArm pending orders whose deadlines belong in the wheel
 * @param toDisarm orders that are pending no more
 * @param conflicts events written to the outbox
 * @param created how many created orders had which outcome
 * @param paid how many payments had which outcome
 * @param closed how many closings had which outcome
 * @param paidAmounts by currency, the amounts of the pending orders that were paid
 * @param misplaced payments and closings from another partition than their order's
 */
public record RecordedBatch(
    List<PendingOrder> toArm,
    List<PendingOrder> toDisarm,
    List<OutboxEvent> conflicts,
    Map<Outcome, Integer> created,
    Map<Outcome, Integer> paid,
    Map<Outcome, Integer> closed,
    Map<String, BigDecimal> paidAmounts,
    int misplaced) {}
