package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.audit.OperatorAction;

/**
 * What came of a request.
 *
 * @param action the action as it is on record
 * @param repeated whether it was done before, by an earlier request for the same
 */
public record ChangeResult(OperatorAction action, boolean repeated) {}
