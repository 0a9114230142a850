package io.ordertimeout.engine;

/** A change that any thread may submit and that the worker executes. */
interface Command {

  void applyTo(TimersWorker worker);

  /** Returns the cost of this command: the number of timers it touches, at least 1. */
  int timers();
}
