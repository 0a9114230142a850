package io.ordertimeout.engine;

import java.util.function.Consumer;

/**
 * The command to change a shard, passed over if the shard is not open.
 *
 * @param shard the shard
 * @param timers how many timers are touched
 * @param arming how many timers are armed at most
 * @param change what to do with the shard
 */
record ShardCommand(int shard, int timers, int arming, Consumer<Shard> change) implements Command {

  @Override
  public void applyTo(TimersWorker worker) {
    Shard open = worker.shard(shard);
    if (open != null) {
      change.accept(open);
    }
  }
}
