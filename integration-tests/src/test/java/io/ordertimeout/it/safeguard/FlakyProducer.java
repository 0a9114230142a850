package io.ordertimeout.it.safeguard;

import io.ordertimeout.it.support.Interceptors;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * A producer that needs three attempts for each record: the first is rejected, and the second is
 * taken by Kafka, but its acknowledgement is lost.
 */
final class FlakyProducer {

  private static final long REJECTION_MILLIS = 50;

  private final Map<String, Integer> attempts = new ConcurrentHashMap<>();
  private volatile boolean rejecting;

  BeanPostProcessor interceptor() {
    return Interceptors.producers(
        call -> call.getMethod().getName().equals("send") ? send(call) : call.proceed());
  }

  /** Rejects every attempt, or no longer. */
  void rejectAll(boolean reject) {
    rejecting = reject;
  }

  /** Returns the number of orders with the prefix whose event was attempted at least once. */
  long attempted(String orderIdPrefix) {
    return attempts.keySet().stream().filter(orderId -> orderId.startsWith(orderIdPrefix)).count();
  }

  // The service awaits the callback, not the future.
  @SuppressWarnings({"unchecked", "FutureReturnValueIgnored"})
  private @Nullable Object send(MethodInvocation call) throws Throwable {
    ProducerRecord<byte[], byte[]> record = (ProducerRecord<byte[], byte[]>) call.getArguments()[0];
    Callback callback = (Callback) call.getArguments()[1];
    String orderId = new String(record.key(), StandardCharsets.UTF_8);
    int attempt = attempts.merge(orderId, 1, Integer::sum);
    if (attempt > 2 && !rejecting) {
      return call.proceed();
    }
    TimeoutException failure = new TimeoutException("attempt " + attempt);
    if (attempt == 1 || rejecting) {
      CompletableFuture.delayedExecutor(REJECTION_MILLIS, TimeUnit.MILLISECONDS)
          .execute(() -> callback.onCompletion(null, failure));
    } else {
      ((Producer<byte[], byte[]>) Objects.requireNonNull(call.getThis()))
          .send(record, (metadata, lost) -> callback.onCompletion(null, failure));
    }
    return new CompletableFuture<RecordMetadata>();
  }
}
