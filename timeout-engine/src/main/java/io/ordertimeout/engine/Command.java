package io.ordertimeout.engine;

/** A change that any thread may ask for and the worker makes. */
@FunctionalInterface
interface Command {

  void applyTo(TimersWorker worker);
}
