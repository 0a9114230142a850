package io.ordertimeout.it.crash;

import static io.ordertimeout.it.crash.CrashingService.reached;
import static io.ordertimeout.it.support.Interceptors.around;

import java.util.Map;
import java.util.Objects;
import javax.sql.DataSource;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.ProducerFactory;

/**
 * Wraps the service's data source, producer and consumers, so that each call can end the process.
 */
@Configuration(proxyBeanMethods = false)
class CrashInterceptors {

  @Bean
  static BeanPostProcessor interceptors() {
    return new BeanPostProcessor() {
      @Override
      public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof DataSource dataSource) {
          return around(DataSource.class, dataSource, StatementInterceptors::connection);
        }
        if (bean instanceof ProducerFactory<?, ?> factory) {
          return around(ProducerFactory.class, factory, CrashInterceptors::createdProducer);
        }
        if (bean instanceof ConsumerFactory<?, ?> factory) {
          return around(ConsumerFactory.class, factory, CrashInterceptors::consumer);
        }
        return bean;
      }
    };
  }

  private static @Nullable Object consumer(MethodInvocation call) throws Throwable {
    Object made = call.proceed();
    return made instanceof Consumer<?, ?>
        ? around(Consumer.class, made, CrashInterceptors::offsetCommit)
        : made;
  }

  private static @Nullable Object offsetCommit(MethodInvocation call) throws Throwable {
    // Commits before anything is stored only fix where reading starts.
    if (!call.getMethod().getName().startsWith("commit") || !StatementInterceptors.hasStored()) {
      return call.proceed();
    }
    reached(CrashPoint.BEFORE_OFFSET_COMMIT);
    Object[] arguments = call.getArguments();
    for (int i = 0; i < arguments.length; i++) {
      if (arguments[i] instanceof OffsetCommitCallback callback) {
        arguments[i] = new CommittedCallback(callback);
      }
    }
    Object result = call.proceed();
    if (call.getMethod().getName().equals("commitSync")) {
      reached(CrashPoint.OFFSETS_COMMITTED);
    }
    return result;
  }

  private record CommittedCallback(OffsetCommitCallback callback) implements OffsetCommitCallback {
    @Override
    public void onComplete(
        Map<TopicPartition, OffsetAndMetadata> offsets, @Nullable Exception failure) {
      if (failure == null) {
        reached(CrashPoint.OFFSETS_COMMITTED);
      }
      callback.onComplete(offsets, failure);
    }
  }

  private static @Nullable Object createdProducer(MethodInvocation call) throws Throwable {
    Object made = call.proceed();
    return made instanceof Producer<?, ?>
        ? around(Producer.class, made, CrashInterceptors::producer)
        : made;
  }

  // The future goes to the caller of the producer.
  @SuppressWarnings({"unchecked", "FutureReturnValueIgnored"})
  private static @Nullable Object producer(MethodInvocation call) throws Throwable {
    Object[] arguments = call.getArguments();
    if (!call.getMethod().getName().equals("send")) {
      return call.proceed();
    }
    ProducerRecord<byte[], byte[]> record = (ProducerRecord<byte[], byte[]>) arguments[0];
    Callback callback = arguments.length > 1 ? (Callback) arguments[1] : null;
    Producer<byte[], byte[]> target =
        (Producer<byte[], byte[]>) Objects.requireNonNull(call.getThis());
    if (record.topic().endsWith("-cancelled")) {
      reached(CrashPoint.BEFORE_SEND);
    }
    return target.send(
        record,
        (metadata, failure) -> {
          if (failure == null) {
            acknowledged(record.topic());
          }
          if (callback != null) {
            callback.onCompletion(metadata, failure);
          }
        });
  }

  // Runs on the producer's own thread, before the future of the caller completes.
  private static void acknowledged(String topic) {
    if (topic.endsWith("-cancelled")) {
      reached(CrashPoint.ACKNOWLEDGED_UNSEEN);
    } else if (topic.endsWith("-conflict")) {
      reached(CrashPoint.CONFLICT_ACKNOWLEDGED);
    } else if (topic.endsWith(".dlt")) {
      reached(CrashPoint.DEAD_LETTER_SENT);
    }
  }
}
