package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.audit.AuditLog;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Makes a change and records it in the audit log, in one transaction and only once: a repeated
 * request is identified by its idempotency key or, without one, by the requested state being in
 * force already. Thread-safe.
 */
@Component
class AuditedChange {

  /** The effect of a change on its subject. */
  record Effect(
      String subject, @Nullable Object before, @Nullable Object after, boolean isUnchanged) {

    /** Creates the effect of a change that was made. */
    static Effect changed(String subject, @Nullable Object before, @Nullable Object after) {
      return new Effect(subject, before, after, false);
    }

    /** Creates the effect of a change that was not needed. */
    static Effect unchanged(String subject) {
      return new Effect(subject, null, null, true);
    }
  }

  /** A change; runs in a transaction. */
  @FunctionalInterface
  interface Change {
    /**
     * Makes the change.
     *
     * @throws ImpossibleChangeException if it cannot be made
     * @throws UnknownSubjectException if its subject does not exist
     */
    Effect make();
  }

  private final AuditLog audit;

  AuditedChange(AuditLog audit) {
    this.audit = audit;
  }

  @Transactional
  ChangeResult make(AuditLog.Request request, Change change) {
    String key = request.idempotencyKey();
    if (key != null) {
      audit.lock(request.actor(), key);
      Optional<AuditLog.Earlier> earlier = audit.find(request.actor(), key);
      if (earlier.isPresent()) {
        return repeated(earlier.get(), request, key);
      }
    }
    Effect effect = change.make();
    if (effect.isUnchanged()) {
      return audit
          .latest(effect.subject(), request.kind())
          .map(action -> new ChangeResult(action, true))
          .orElseThrow(() -> new ImpossibleChangeException("this is already the case"));
    }
    return new ChangeResult(
        audit.add(request, effect.subject(), effect.before(), effect.after()), false);
  }

  private ChangeResult repeated(AuditLog.Earlier earlier, AuditLog.Request request, String key) {
    if (!audit.isSame(earlier, request)) {
      throw new ImpossibleChangeException(
          "the idempotency key '%s' was used for a different request: %s of %s"
              .formatted(key, earlier.action().kind(), earlier.action().at()));
    }
    return new ChangeResult(earlier.action(), true);
  }
}
