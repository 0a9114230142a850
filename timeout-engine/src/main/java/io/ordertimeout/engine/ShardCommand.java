package io.ordertimeout.engine;

import java.util.function.Consumer;

/**
 * A command that changes one shard. It is ignored if the shard is not open.
 *
 * @param shard the shard
 * @param timers the number of timers touched
 * @param change the change to apply to the shard
 */
record ShardCommand(int shard, int timers, Consumer<Shard> change) implements Command {

  @Override
  public void applyTo(TimersWorker worker) {
    Shard open = worker.shard(shard);
    if (open != null) {
      change.accept(open);
    }
  }
}
