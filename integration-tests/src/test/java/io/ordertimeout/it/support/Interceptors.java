package io.ordertimeout.it.support;

import java.util.Objects;
import org.aopalliance.intercept.MethodInterceptor;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.ProducerFactory;

/**
 * Interceptors between the service and its database connections and Kafka clients, of which the
 * service is unaware.
 */
public final class Interceptors {

  private Interceptors() {}

  /** An object of the type that passes every call to the interceptor. */
  public static <T> T around(Class<T> type, Object target, MethodInterceptor interceptor) {
    ProxyFactory factory = new ProxyFactory(type, interceptor);
    factory.setTarget(target);
    return type.cast(factory.getProxy());
  }

  /** Wraps the beans of an interface. */
  public static BeanPostProcessor beans(Class<?> type, MethodInterceptor interceptor) {
    return new BeanPostProcessor() {
      @Override
      public Object postProcessAfterInitialization(Object bean, String beanName) {
        return type.isInstance(bean) ? around(type, bean, interceptor) : bean;
      }
    };
  }

  /** Wraps the objects of one interface that the beans of another one create. */
  public static <T> BeanPostProcessor made(
      Class<?> factory, Class<T> type, MethodInterceptor interceptor) {
    return beans(
        factory,
        call -> {
          Object made = call.proceed();
          return type.isInstance(made)
              ? around(type, Objects.requireNonNull(made), interceptor)
              : made;
        });
  }

  /** Wraps the Kafka producers. */
  public static BeanPostProcessor producers(MethodInterceptor interceptor) {
    return made(ProducerFactory.class, Producer.class, interceptor);
  }

  /** Wraps what the Kafka producers send to a topic. */
  public static BeanPostProcessor sends(String topic, MethodInterceptor interceptor) {
    return producers(
        call ->
            call.getMethod().getName().equals("send")
                    && call.getArguments()[0] instanceof ProducerRecord<?, ?> record
                    && record.topic().equals(topic)
                ? interceptor.invoke(call)
                : call.proceed());
  }

  /** Wraps the Kafka consumers. */
  public static BeanPostProcessor consumers(MethodInterceptor interceptor) {
    return made(ConsumerFactory.class, Consumer.class, interceptor);
  }
}
