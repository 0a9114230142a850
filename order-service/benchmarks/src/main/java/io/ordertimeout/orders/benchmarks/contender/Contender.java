package io.ordertimeout.orders.benchmarks.contender;

import io.ordertimeout.orders.benchmarks.servers.ChildJvm;

/**
 * A program, in a process of its own, that reads a shop's orders and payments and publishes the
 * cancellations.
 */
public interface Contender extends AutoCloseable {

  /** Starts it; returns when it is ready to serve. */
  void start();

  /** Its process, once it is started. */
  ChildJvm process();

  @Override
  void close();
}
