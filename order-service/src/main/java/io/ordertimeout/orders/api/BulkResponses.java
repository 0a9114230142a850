package io.ordertimeout.orders.api;

import io.ordertimeout.orders.operator.BulkResult;
import io.ordertimeout.orders.operator.BulkResult.Outcome;
import java.util.List;
import org.springframework.http.ResponseEntity;

/** Conversions that the endpoints for changes of many share. */
final class BulkResponses {

  /** How many items one request may change. */
  static final int MAX_ITEMS = 500;

  /**
   * What became of the items of a change of many.
   *
   * @param data one result for each item, in the order of the request
   * @param <T> the type of the results
   */
  record Results<T>(List<T> data) {}

  private BulkResponses() {}

  /** The response with the results; a header marks a repeated request. */
  static <T> ResponseEntity<Results<T>> of(List<? extends BulkResult<?>> results, List<T> data) {
    ResponseEntity.BodyBuilder response = ResponseEntity.ok();
    boolean wasMade = results.stream().anyMatch(result -> result.outcome() == Outcome.UNCHANGED);
    boolean isMade =
        results.stream()
            .anyMatch(
                result ->
                    result.outcome() == Outcome.CHANGED || result.outcome() == Outcome.FAILED);
    if (wasMade && !isMade) {
      response.header(ChangeResponses.IDEMPOTENT_REPLAYED, "true");
    }
    return response.body(new Results<>(data));
  }
}
