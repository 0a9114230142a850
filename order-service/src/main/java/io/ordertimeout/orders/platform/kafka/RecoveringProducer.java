package io.ordertimeout.orders.platform.kafka;

import java.lang.reflect.InvocationTargetException;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.kafka.core.ProducerFactory;

/**
 * A producer that outlasts a refusal. An idempotent producer of Kafka's that is refused when it
 * asks for its id, by a password that the broker does not know yet, never asks again: what it is
 * given waits for its delivery time-out, whatever the broker thinks by then. So whoever fails for
 * being refused or for waiting too long is replaced by a new one before the next use.
 *
 * <p>Thread-safe. Made at its first use.
 */
final class RecoveringProducer implements MethodInterceptor {

  private static final Logger log = LoggerFactory.getLogger(RecoveringProducer.class);

  private final ProducerFactory<byte[], byte[]> factory;
  private @Nullable Producer<byte[], byte[]> producer;
  private boolean spent;

  private RecoveringProducer(ProducerFactory<byte[], byte[]> factory) {
    this.factory = factory;
  }

  @SuppressWarnings("unchecked")
  static Producer<byte[], byte[]> of(ProducerFactory<byte[], byte[]> factory) {
    return (Producer<byte[], byte[]>)
        ProxyFactory.getProxy(Producer.class, new RecoveringProducer(factory));
  }

  @Override
  @SuppressWarnings("unchecked")
  public @Nullable Object invoke(MethodInvocation call) throws Throwable {
    Producer<byte[], byte[]> current = current();
    @Nullable Object[] arguments = call.getArguments();
    if (call.getMethod().getName().equals("send")) {
      return send(
          current,
          (ProducerRecord<byte[], byte[]>) arguments[0],
          arguments.length > 1 ? (Callback) arguments[1] : null);
    }
    try {
      return call.getMethod().invoke(current, arguments);
    } catch (InvocationTargetException e) {
      judge(current, e.getCause());
      throw e.getCause();
    }
  }

  private Object send(
      Producer<byte[], byte[]> current,
      ProducerRecord<byte[], byte[]> record,
      @Nullable Callback callback) {
    return current.send(
        record,
        (metadata, failure) -> {
          judge(current, failure);
          if (callback != null) {
            callback.onCompletion(metadata, failure);
          }
        });
  }

  private synchronized Producer<byte[], byte[]> current() {
    if (spent) {
      log.debug("The producer is made anew");
      // Not by whoever noticed: that may be the producer's own thread, which would wait for itself.
      factory.reset();
      producer = null;
      spent = false;
    }
    if (producer == null) {
      producer = factory.createProducer();
    }
    return producer;
  }

  private void judge(Producer<byte[], byte[]> failed, @Nullable Throwable failure) {
    if (failure instanceof AuthenticationException || failure instanceof TimeoutException) {
      synchronized (this) {
        spent |= producer == failed;
      }
    }
  }
}
