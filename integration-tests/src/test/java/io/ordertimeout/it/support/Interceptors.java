package io.ordertimeout.it.support;

import java.util.Objects;
import org.aopalliance.intercept.MethodInterceptor;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.ProducerFactory;

/**
 * Ways between the service and what it stands on, its database connections and Kafka clients. The
 * service has no part in it.
 */
public final class Interceptors {

  private Interceptors() {}

  /** An object of the type that passes every call to the seam. */
  public static <T> T around(Class<T> type, Object target, MethodInterceptor seam) {
    ProxyFactory factory = new ProxyFactory(type, seam);
    factory.setTarget(target);
    return type.cast(factory.getProxy());
  }

  /** Around the beans of an interface. */
  public static BeanPostProcessor beans(Class<?> type, MethodInterceptor seam) {
    return new BeanPostProcessor() {
      @Override
      public Object postProcessAfterInitialization(Object bean, String beanName) {
        return type.isInstance(bean) ? around(type, bean, seam) : bean;
      }
    };
  }

  /** Around what the beans of an interface make of another one. */
  public static <T> BeanPostProcessor made(
      Class<?> factory, Class<T> type, MethodInterceptor seam) {
    return beans(
        factory,
        call -> {
          Object made = call.proceed();
          return type.isInstance(made) ? around(type, Objects.requireNonNull(made), seam) : made;
        });
  }

  /** Wraps the producers that the service creates. */
  public static BeanPostProcessor producers(MethodInterceptor interceptor) {
    return made(ProducerFactory.class, Producer.class, interceptor);
  }

  /** Around the consumers. */
  public static BeanPostProcessor consumers(MethodInterceptor seam) {
    return made(ConsumerFactory.class, Consumer.class, seam);
  }
}
