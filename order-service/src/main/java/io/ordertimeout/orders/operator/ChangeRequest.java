package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.audit.OperatorAction;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What somebody asks to have changed.
 *
 * @param actor who asks
 * @param idempotencyKey what the actor makes a repetition known by; null for none
 * @param kind what is to be done
 * @param reason why
 * @param details what was asked for, and to what; with the kind it tells one request from another
 */
public record ChangeRequest(
    String actor,
    @Nullable String idempotencyKey,
    OperatorAction.Kind kind,
    String reason,
    Map<String, Object> details) {}
