package io.ordertimeout.engine;

import java.util.function.Consumer;

/**
 * A command that affects all shards or the set of shards.
 *
 * @param timers the cost, in timers touched
 * @param change the change to apply
 */
record WorkerCommand(int timers, Consumer<TimersWorker> change) implements Command {

  @Override
  public void applyTo(TimersWorker worker) {
    change.accept(worker);
  }
}
