package io.ordertimeout.benchmarks;

import java.util.concurrent.ThreadFactory;

/** Creates threads that do not keep the process alive. */
final class DaemonThreads {

  private DaemonThreads() {}

  static ThreadFactory named(String name) {
    return work -> {
      Thread thread = new Thread(work, name);
      thread.setDaemon(true);
      return thread;
    };
  }

  static Thread start(String name, Runnable work) {
    Thread thread = named(name).newThread(work);
    thread.start();
    return thread;
  }
}
