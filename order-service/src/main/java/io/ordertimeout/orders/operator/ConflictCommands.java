package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.audit.OperatorAction.Kind;
import io.ordertimeout.orders.operator.AuditedChange.Effect;
import io.ordertimeout.orders.order.PaymentConflicts;
import io.ordertimeout.orders.order.PaymentConflicts.OrderConflict;
import io.ordertimeout.orders.order.Resolution;
import java.util.Map;
import org.springframework.stereotype.Component;

/** The operator commands on conflicts. Thread-safe. */
@Component
public class ConflictCommands {

  private record ResolutionOf(String paymentId, Resolution resolution) {}

  private final PaymentConflicts conflicts;
  private final AuditedChange change;

  ConflictCommands(PaymentConflicts conflicts, AuditedChange change) {
    this.conflicts = conflicts;
    this.change = change;
  }

  /**
   * Records how a conflict has ended.
   *
   * @throws UnknownSubjectException if there is no such conflict
   * @throws ImpossibleChangeException if it has ended otherwise
   */
  public ChangeResult resolve(
      Requester requester, String orderId, String paymentId, Resolution resolution, String reason) {
    return change.make(
        requester.request(
            Kind.RESOLVE_CONFLICT,
            reason,
            Map.of(
                "orderId", orderId, "paymentId", paymentId, "resolution", resolution.toString())),
        () -> {
          if (conflicts.resolve(orderId, paymentId, resolution, requester.name(), reason)) {
            return Effect.changed(orderId, null, new ResolutionOf(paymentId, resolution));
          }
          OrderConflict conflict =
              conflicts
                  .find(orderId, paymentId)
                  .orElseThrow(
                      () ->
                          new UnknownSubjectException(
                              "there is no conflict of payment '%s' with order '%s'"
                                  .formatted(paymentId, orderId)));
          if (conflict.resolution() == resolution) {
            return Effect.unchanged(orderId);
          }
          throw new ImpossibleChangeException(
              "the conflict has ended as %s since %s, says %s"
                  .formatted(conflict.resolution(), conflict.resolvedAt(), conflict.resolvedBy()));
        });
  }
}
