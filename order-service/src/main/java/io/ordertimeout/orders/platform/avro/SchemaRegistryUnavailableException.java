package io.ordertimeout.orders.platform.avro;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.kafka.common.errors.RetriableException;
import org.jspecify.annotations.Nullable;

/** Thrown while the schema registry does not answer, or rejects the log-in. */
public final class SchemaRegistryUnavailableException extends RetriableException {

  private static final long serialVersionUID = 1L;

  private final transient @Nullable CompletableFuture<?> answer;

  SchemaRegistryUnavailableException(String message) {
    this(message, null);
  }

  /** Creates one for a request that may be answered yet. */
  SchemaRegistryUnavailableException(String message, @Nullable CompletableFuture<?> answer) {
    super(message);
    this.answer = answer;
  }

  /**
   * Waits for an answer of the registry, up to its time-out.
   *
   * @return whether there was one; false if the failure is final
   * @throws SchemaRegistryUnavailableException if the registry does not answer
   */
  public boolean awaitAnswer() {
    if (answer == null) {
      return false;
    }
    try {
      answer.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof SchemaRegistryUnavailableException cause) {
        throw cause;
      }
    }
    return true;
  }
}
