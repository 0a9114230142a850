package io.ordertimeout.it.safeguard;

import io.ordertimeout.it.support.Interceptors;
import java.util.concurrent.CountDownLatch;
import org.springframework.beans.factory.config.BeanPostProcessor;

/** An intake that can be made to stand still: what comes meanwhile lies in Kafka, unread. */
final class HeldIntake implements AutoCloseable {

  private volatile CountDownLatch held = new CountDownLatch(0);

  BeanPostProcessor seam() {
    return Interceptors.consumers(
        call -> {
          Object result = call.proceed();
          if (call.getMethod().getName().equals("poll")) {
            held.await();
          }
          return result;
        });
  }

  /** Nothing that comes to Kafka from now on is read. */
  void hold() {
    held = new CountDownLatch(1);
  }

  void release() {
    held.countDown();
  }

  @Override
  public void close() {
    release();
  }
}
