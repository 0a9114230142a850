package io.ordertimeout.orders.platform.loop;

import java.util.List;

/** A bean whose threads have to live for as long as it runs. */
public interface LoopThreads {

  /** The names of the threads that have ended although the bean is running. Thread-safe. */
  List<String> endedThreads();
}
