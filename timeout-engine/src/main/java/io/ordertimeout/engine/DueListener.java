package io.ordertimeout.engine;

/** Receives what is due from {@link ShardedTimers}. */
@FunctionalInterface
public interface DueListener {

  /**
   * Takes over a batch of due timers and calls {@link DueBatch#done()} when it is through with
   * them, from any thread. Until then no further batch of the same shard comes.
   *
   * <p>Called on the worker thread, which serves every shard: it must not block, and hands the work
   * to an executor. It may call the {@link ShardedTimers} it belongs to, except {@link
   * ShardedTimers#stop()}.
   *
   * <p>A listener that throws has refused the batch: unless the batch was done before, all of it is
   * armed again with its deadlines, the exception is logged, and the shard is offered again after
   * the retry delay. A {@code RejectedExecutionException} of a full executor may therefore simply
   * pass.
   *
   * @param batch one or more due timers of one shard
   */
  void onDue(DueBatch batch);
}
