package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.audit.AuditLog;
import io.ordertimeout.orders.audit.OperatorAction;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Makes a change and puts it on record in one transaction, once however often it is asked for: a
 * request is known again by its key or, without one, by what it asks for being so already.
 * Thread-safe.
 */
@Component
class AuditedChange {

  /** What a change did to what. */
  record Effect(String subject, @Nullable Object before, @Nullable Object after, boolean wasSo) {

    /** It changed something. */
    static Effect changed(String subject, @Nullable Object before, @Nullable Object after) {
      return new Effect(subject, before, after, false);
    }

    /** What is asked for is so already. */
    static Effect wasSo(String subject) {
      return new Effect(subject, null, null, true);
    }
  }

  /** A change; runs in a transaction. */
  @FunctionalInterface
  interface Change {
    /**
     * Makes it.
     *
     * @throws ImpossibleChangeException if it cannot be made
     * @throws UnknownSubjectException if there is nothing to make it to
     */
    Effect make();
  }

  private final AuditLog actions;

  AuditedChange(AuditLog actions) {
    this.actions = actions;
  }

  @Transactional
  ChangeResult make(ChangeRequest wish, Change change) {
    String key = wish.idempotencyKey();
    if (key != null) {
      actions.lock(wish.actor(), key);
      Optional<AuditLog.Repeated> earlier = actions.find(wish.actor(), key);
      if (earlier.isPresent()) {
        return repeated(earlier.get(), wish, key);
      }
    }
    Effect effect = change.make();
    if (effect.wasSo()) {
      return actions
          .latest(effect.subject(), wish.kind())
          .map(action -> new ChangeResult(action, true))
          .orElseThrow(() -> new ImpossibleChangeException("it is so already"));
    }
    return new ChangeResult(
        actions.add(wish, effect.subject(), effect.before(), effect.after()), false);
  }

  private ChangeResult repeated(AuditLog.Repeated earlier, ChangeRequest wish, String key) {
    OperatorAction action = earlier.action();
    if (action.kind() != wish.kind() || !actions.isSame(earlier.request(), wish)) {
      throw new ImpossibleChangeException(
          "the idempotency key '%s' was used for something else: %s of %s"
              .formatted(key, action.kind(), action.at()));
    }
    return new ChangeResult(action, true);
  }
}
