package io.ordertimeout.orders.operator;

/**
 * What came of a request.
 *
 * @param action the action as it is on record
 * @param repeated whether it was done before, by an earlier request for the same
 */
public record Done(OperatorAction action, boolean repeated) {}
