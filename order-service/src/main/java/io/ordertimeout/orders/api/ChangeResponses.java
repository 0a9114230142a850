package io.ordertimeout.orders.api;

import io.ordertimeout.orders.audit.OperatorAction;
import io.ordertimeout.orders.operator.ChangeResult;
import io.ordertimeout.orders.operator.Requester;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ResponseEntity;

/** What the requests for changes have in common. */
final class Answers {

  static final String IDEMPOTENCY_KEY = "Idempotency-Key";

  private static final String REPEATED = "Idempotent-Replayed";

  private Answers() {}

  static Requester requester(Principal who, @Nullable String idempotencyKey) {
    return new Requester(who.getName(), idempotencyKey);
  }

  static ResponseEntity<OperatorAction> of(ChangeResult done) {
    ResponseEntity.BodyBuilder answer = ResponseEntity.ok();
    if (done.repeated()) {
      answer.header(REPEATED, "true");
    }
    return answer.body(done.action());
  }
}
