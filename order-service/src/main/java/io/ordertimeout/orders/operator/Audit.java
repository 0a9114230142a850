package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.audit.AuditLog;
import io.ordertimeout.orders.audit.OperatorAction;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** What operators did, and the breaker. Thread-safe. */
@Component
public class Audit {

  private final AuditLog actions;

  Audit(AuditLog actions) {
    this.actions = actions;
  }

  /**
   * At most {@code limit} actions with a lower number, the latest first.
   *
   * @param subject what they were done to; null for anything
   */
  public List<OperatorAction> actions(@Nullable String subject, long before, int limit) {
    return actions.page(subject, before, limit);
  }
}
