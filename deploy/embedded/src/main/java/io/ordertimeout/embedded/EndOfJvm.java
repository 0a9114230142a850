package io.ordertimeout.embedded;

/** Something to release when this JVM ends, unless it is released earlier. Thread-safe. */
public final class EndOfJvm {

  private final Thread hook;

  private EndOfJvm(Thread hook) {
    this.hook = hook;
  }

  /**
   * Has something released when this JVM ends.
   *
   * @param threadName of the thread that releases it then
   * @param release must not wait for other threads that run at the end of the JVM
   */
  public static EndOfJvm release(String threadName, Runnable release) {
    EndOfJvm end = new EndOfJvm(new Thread(release, threadName));
    Runtime.getRuntime().addShutdownHook(end.hook);
    return end;
  }

  /**
   * Cancels the release, because the caller is about to do it.
   *
   * @return false if this JVM is ending, so that the release takes place in any case
   */
  public boolean cancel() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }
}
