package io.ordertimeout.orders.api;

import io.ordertimeout.orders.audit.OperatorAction;
import io.ordertimeout.orders.operator.ChangeResult;
import io.ordertimeout.orders.operator.Requester;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ResponseEntity;

/** Conversions that the endpoints for changes share. */
final class ChangeResponses {

  static final String IDEMPOTENCY_KEY = "Idempotency-Key";

  static final String IDEMPOTENT_REPLAYED = "Idempotent-Replayed";

  private ChangeResponses() {}

  static Requester requester(Principal user, @Nullable String idempotencyKey) {
    return new Requester(user.getName(), idempotencyKey);
  }

  /** The response with the recorded action; a header marks a repeated request. */
  static ResponseEntity<OperatorAction> of(ChangeResult result) {
    ResponseEntity.BodyBuilder response = ResponseEntity.ok();
    if (result.repeated()) {
      response.header(IDEMPOTENT_REPLAYED, "true");
    }
    return response.body(result.action());
  }
}
