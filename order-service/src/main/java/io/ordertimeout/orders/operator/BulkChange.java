package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.audit.AuditLog;
import io.ordertimeout.orders.operator.BulkResult.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.apache.kafka.common.KafkaException;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;

/**
 * Makes the same change to many items, each in a transaction of its own with an entry of its own in
 * the audit log, so that no order is locked for long. The n-th item has the request's idempotency
 * key with "#n" appended; a repeated request therefore finishes what an interrupted one has left.
 * Thread-safe.
 */
@Component
class BulkChange {

  /** How many items one request may change; the API refuses more. */
  static final int MAX_ITEMS = 500;

  /** A change of one item. */
  @FunctionalInterface
  interface Change<T> {
    ChangeResult make(Requester requester, T item);
  }

  private final AuditLog audit;

  BulkChange(AuditLog audit) {
    this.audit = audit;
  }

  /**
   * Changes items.
   *
   * @param requested what is to be recorded as requested for an item
   * @throws ImpossibleChangeException if the idempotency key was used for a different request
   */
  <T> List<BulkResult<T>> make(
      Requester requester,
      List<T> items,
      Function<T, AuditLog.Request> requested,
      Change<T> change) {
    String key = requester.idempotencyKey();
    if (key != null) {
      requireSame(requester.name(), key, items.stream().map(requested).toList());
    }
    List<BulkResult<T>> results = new ArrayList<>();
    boolean hasFailed = false;
    for (T item : items) {
      if (hasFailed) {
        results.add(failed(item));
        continue;
      }
      Requester one =
          new Requester(requester.name(), key == null ? null : keyOf(key, results.size()));
      try {
        results.add(result(item, change.make(one, item)));
      } catch (UnknownSubjectException e) {
        results.add(new BulkResult<>(item, Outcome.UNKNOWN, e.getMessage(), null));
      } catch (ImpossibleChangeException e) {
        results.add(new BulkResult<>(item, Outcome.IMPOSSIBLE, e.getMessage(), null));
      } catch (DataAccessException | TransactionException | KafkaException e) {
        if (results.isEmpty()) {
          throw e;
        }
        hasFailed = true;
        results.add(failed(item));
      }
    }
    return results;
  }

  private void requireSame(String actor, String key, List<AuditLog.Request> requests) {
    Map<String, AuditLog.Request> byKey = new HashMap<>();
    for (AuditLog.Request request : requests) {
      byKey.put(keyOf(key, byKey.size()), request);
    }
    List<String> keys = IntStream.range(0, MAX_ITEMS).mapToObj(i -> keyOf(key, i)).toList();
    audit
        .find(actor, keys)
        .forEach(
            (keyOfItem, earlier) -> {
              AuditLog.Request request = byKey.get(keyOfItem);
              if (request == null || !audit.isSame(earlier, request)) {
                throw new ImpossibleChangeException(
                    "the idempotency key '%s' was used for a different request: %s of %s"
                        .formatted(key, earlier.action().kind(), earlier.action().at()));
              }
            });
  }

  private static String keyOf(String key, int item) {
    return key + "#" + item;
  }

  private static <T> BulkResult<T> result(T item, ChangeResult result) {
    return new BulkResult<>(
        item, result.repeated() ? Outcome.UNCHANGED : Outcome.CHANGED, null, result.action());
  }

  private static <T> BulkResult<T> failed(T item) {
    return new BulkResult<>(
        item,
        Outcome.FAILED,
        "Postgres or Kafka did not answer in time; repeat the request with the same idempotency key",
        null);
  }
}
