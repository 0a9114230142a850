package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.audit.OperatorAction;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Who asks for a change.
 *
 * @param name the name that goes on record
 * @param idempotencyKey what the requester makes a repetition known by; null for none
 */
public record Requester(String name, @Nullable String idempotencyKey) {

  ChangeRequest wish(OperatorAction.Kind kind, String reason, Map<String, Object> details) {
    return new ChangeRequest(name, idempotencyKey, kind, reason, details);
  }
}
