package io.ordertimeout.engine;

import java.util.function.Consumer;

/**
 * The command to do something with all shards, or with the set of them.
 *
 * @param change what to do
 */
record WorkerCommand(Consumer<TimersWorker> change) implements Command {

  @Override
  public int timers() {
    return 1;
  }

  @Override
  public int arming() {
    return 0;
  }

  @Override
  public void applyTo(TimersWorker worker) {
    change.accept(worker);
  }
}
