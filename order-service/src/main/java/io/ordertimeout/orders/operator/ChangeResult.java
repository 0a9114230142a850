package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.audit.OperatorAction;

/**
 * The result of a requested change.
 *
 * @param action the action as the audit log records it
 * @param repeated whether an earlier request for the same made the change
 */
public record ChangeResult(OperatorAction action, boolean repeated) {}
