package io.ordertimeout.it.safeguard;

import io.ordertimeout.it.support.Interceptors;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.springframework.beans.factory.config.BeanPostProcessor;

/** Stops threads of the service where they {@link #pass} it, while the test has it closed. */
final class Barrier {

  private volatile CountDownLatch opened = new CountDownLatch(0);
  private volatile boolean reached;

  /** Stops every thread that comes to the barrier from now on. */
  void close() {
    reached = false;
    opened = new CountDownLatch(1);
  }

  /** Lets all threads go on. */
  void open() {
    opened.countDown();
  }

  /** Returns whether the barrier has stopped a thread since it was closed. */
  boolean isReached() {
    return reached;
  }

  /** Has threads with that prefix pass the barrier before they get a connection to Postgres. */
  BeanPostProcessor ofConnections(String threads) {
    return Interceptors.beans(
        DataSource.class,
        call -> {
          if (call.getMethod().getName().equals("getConnection")
              && Thread.currentThread().getName().startsWith(threads)) {
            pass();
          }
          return call.proceed();
        });
  }

  /** Returns once the barrier is open; called by a thread of the service. */
  void pass() throws InterruptedException {
    CountDownLatch open = opened;
    if (open.getCount() > 0) {
      reached = true;
      open.await();
    }
  }
}
