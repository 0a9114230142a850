package io.ordertimeout.engine;

/**
 * The command to arm or disarm one timer. Kept apart from other commands, so that the worker can
 * make many at once.
 *
 * @param shard the timer's shard
 * @param id the timer's id
 * @param arms whether to arm the timer rather than to disarm it
 * @param deadlineMillis the deadline, if it is to be armed
 */
record TimerChange(int shard, long id, boolean arms, long deadlineMillis) implements Command {

  @Override
  public int timers() {
    return 1;
  }

  @Override
  public int arming() {
    return arms ? 1 : 0;
  }

  @Override
  public void applyTo(TimersWorker worker) {
    Shard open = worker.shard(shard);
    if (open != null) {
      open.apply(this);
    }
  }
}
