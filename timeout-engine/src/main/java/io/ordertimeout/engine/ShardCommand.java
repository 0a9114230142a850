package io.ordertimeout.engine;

import java.util.function.Consumer;
import java.util.function.ToIntFunction;

/**
 * A command that changes one shard. It is ignored if the shard is not open.
 *
 * @param shard the shard
 * @param timers the number of timers touched
 * @param arming the maximum number of timers armed
 * @param unarmed counts those of them that are not armed yet
 * @param change the change to apply to the shard
 */
record ShardCommand(
    int shard, int timers, int arming, ToIntFunction<Shard> unarmed, Consumer<Shard> change)
    implements Command {

  /** Creates a command that arms timers. */
  static ShardCommand arming(int shard, long[] ids, Consumer<Shard> change) {
    return new ShardCommand(shard, ids.length, ids.length, open -> open.countUnarmed(ids), change);
  }

  /** Creates a command that arms none. */
  static ShardCommand other(int shard, int timers, Consumer<Shard> change) {
    return new ShardCommand(shard, timers, 0, open -> 0, change);
  }

  @Override
  public int added(TimersWorker worker) {
    Shard open = worker.shard(shard);
    return open == null ? 0 : unarmed.applyAsInt(open);
  }

  @Override
  public void applyTo(TimersWorker worker) {
    Shard open = worker.shard(shard);
    if (open != null) {
      change.accept(open);
    }
  }
}
