package io.ordertimeout.engine;

/** A change that any thread may submit and that the worker executes. */
interface Command {

  void applyTo(TimersWorker worker);

  /** Returns the cost of this command: the number of timers it touches, at least 1. */
  int timers();

  /** Returns the maximum number of timers that this command arms. */
  int arming();

  /**
   * Returns how many of these timers are not armed yet, or more if an id occurs twice. Called by
   * the worker only.
   */
  int added(TimersWorker worker);
}
