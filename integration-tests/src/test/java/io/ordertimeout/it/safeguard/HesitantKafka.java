package io.ordertimeout.it.safeguard;

import io.ordertimeout.it.support.Interceptors;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * A Kafka that takes an event at its third attempt: the first is refused; the second is taken, but
 * the service does not hear of it.
 */
final class HesitantKafka {

  private static final long REFUSAL_MILLIS = 50;

  private final Map<String, Integer> attempts = new ConcurrentHashMap<>();

  BeanPostProcessor seam() {
    return Interceptors.beans(
        Producer.class,
        call -> call.getMethod().getName().equals("send") ? send(call) : call.proceed());
  }

  /** How many events were attempted. */
  int attempted() {
    return attempts.size();
  }

  // The callback answers; the caller of the producer awaits the answer.
  @SuppressWarnings({"unchecked", "FutureReturnValueIgnored"})
  private @Nullable Object send(MethodInvocation call) throws Throwable {
    ProducerRecord<byte[], byte[]> record = (ProducerRecord<byte[], byte[]>) call.getArguments()[0];
    String orderId = new String(record.key(), StandardCharsets.UTF_8);
    int attempt = attempts.merge(orderId, 1, Integer::sum);
    if (attempt > 2) {
      return call.proceed();
    }
    CompletableFuture<RecordMetadata> answer = new CompletableFuture<>();
    TimeoutException failure = new TimeoutException("attempt " + attempt);
    if (attempt == 1) {
      CompletableFuture.delayedExecutor(REFUSAL_MILLIS, TimeUnit.MILLISECONDS)
          .execute(() -> answer.completeExceptionally(failure));
    } else {
      ((Producer<byte[], byte[]>) Objects.requireNonNull(call.getThis()))
          .send(record, (metadata, unheard) -> answer.completeExceptionally(failure));
    }
    return answer;
  }
}
