package io.ordertimeout.orders.benchmarks.contender;

import io.ordertimeout.orders.benchmarks.servers.ChildJvm;
import java.util.List;

/**
 * A program, in processes of its own, that reads a shop's orders and payments and publishes the
 * cancellations.
 */
public interface Contender extends AutoCloseable {

  /** Starts it; returns when it is ready to serve. */
  void start();

  /** Its processes, once it is started. */
  List<ChildJvm> processes();

  @Override
  void close();
}
