package io.ordertimeout.orders.api;

import io.ordertimeout.orders.operator.ChangeResult;
import io.ordertimeout.orders.operator.Requester;
import java.security.Principal;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;

/** Conversions that the endpoints for changes share. */
final class ChangeResponses {

  static final String IDEMPOTENCY_KEY = "Idempotency-Key";

  static final String IDEMPOTENT_REPLAYED = "Idempotent-Replayed";

  private ChangeResponses() {}

  static Requester requester(Principal user, @Nullable String idempotencyKey) {
    return new Requester(user.getName(), idempotencyKey);
  }

  /** The response with the changed resource; a header marks a repeated request. */
  static <T> ResponseEntity<T> of(ChangeResult result, T changed) {
    return ResponseEntity.ok().headers(headers(result)).body(changed);
  }

  /** The response with the changed resource, or none if nothing is known of it any more. */
  static <T> ResponseEntity<T> of(ChangeResult result, Optional<T> changed) {
    return changed
        .map(resource -> of(result, resource))
        .orElseGet(() -> ResponseEntity.noContent().headers(headers(result)).build());
  }

  private static HttpHeaders headers(ChangeResult result) {
    HttpHeaders headers = new HttpHeaders();
    if (result.repeated()) {
      headers.set(IDEMPOTENT_REPLAYED, "true");
    }
    return headers;
  }
}
