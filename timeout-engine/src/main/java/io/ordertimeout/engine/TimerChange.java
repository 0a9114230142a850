package io.ordertimeout.engine;

/**
 * A command that arms or disarms one timer. It is a type of its own so that the worker can apply
 * many of them together.
 *
 * @param shard the timer's shard
 * @param id the timer's id
 * @param arms true to arm the timer, false to disarm it
 * @param deadlineMillis the deadline in milliseconds, ignored unless the timer is armed
 */
record TimerChange(int shard, long id, boolean arms, long deadlineMillis) implements Command {

  @Override
  public int timers() {
    return 1;
  }

  @Override
  public void applyTo(TimersWorker worker) {
    Shard open = worker.shard(shard);
    if (open != null) {
      open.apply(this);
    }
  }
}
