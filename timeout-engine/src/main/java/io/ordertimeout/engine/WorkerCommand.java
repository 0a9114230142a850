package io.ordertimeout.engine;

import java.util.function.Consumer;

/**
 * The command to do something with all shards, or with the set of them.
 *
 * @param timers how much work this is, in timers touched
 * @param change what to do
 */
record WorkerCommand(int timers, Consumer<TimersWorker> change) implements Command {

  @Override
  public int arming() {
    return 0;
  }

  @Override
  public void applyTo(TimersWorker worker) {
    change.accept(worker);
  }
}
