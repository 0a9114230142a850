package io.ordertimeout.engine;

/** A change that any thread may ask for and the worker makes. */
interface Command {

  void applyTo(TimersWorker worker);

  /** How much work this is: the number of timers it touches, at least 1. */
  int timers();

  /** How many timers are armed by this at most. */
  int arming();
}
