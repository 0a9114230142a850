package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.audit.AuditLog;
import io.ordertimeout.orders.audit.OperatorAction;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The caller who asks for a change.
 *
 * @param name the name that the audit log records
 * @param idempotencyKey the key by which the caller identifies repetitions; null for none
 */
public record Requester(String name, @Nullable String idempotencyKey) {

  AuditLog.Request request(OperatorAction.Kind kind, String reason, Map<String, Object> details) {
    return new AuditLog.Request(name, idempotencyKey, kind, reason, details);
  }
}
