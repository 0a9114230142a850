package io.ordertimeout.engine;

import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** Receives due timers from {@link ShardedTimers}. */
@FunctionalInterface
public interface DueListener {

  /**
   * Accepts a batch of due timers. The listener, or the code it hands the batch to, calls {@link
   * DueBatch#done()} from any thread when the timers have been processed. Until then the shard
   * delivers no further batch.
   *
   * <p>This method runs on the worker thread, which serves all shards. It must not block, so it
   * should hand the work to an executor. It may call the {@link ShardedTimers} it belongs to,
   * except {@link ShardedTimers#stop()}.
   *
   * <p>A listener rejects the batch by throwing. Unless the batch is already done, all of its
   * timers are armed again with their deadlines, the exception is logged, and the shard delivers
   * them again after the retry delay. A {@code RejectedExecutionException} from a full executor
   * therefore needs no handling.
   *
   * @param batch one or more due timers of one shard
   */
  void onDue(DueBatch batch);

  /**
   * Returns a listener that processes each batch on an executor and then marks it as done, also if
   * that fails. A batch that the executor rejects is delivered again.
   *
   * @param executor runs the consumer; its {@code execute} must not block
   * @param consumer processes a batch. It need not call {@link DueBatch#done()}. Its exceptions go
   *     to the executor; the timers count as delivered
   * @return the listener
   */
  static DueListener on(Executor executor, Consumer<DueBatch> consumer) {
    Objects.requireNonNull(executor, "executor");
    Objects.requireNonNull(consumer, "consumer");
    return batch ->
        executor.execute(
            () -> {
              try {
                consumer.accept(batch);
              } finally {
                batch.done();
              }
            });
  }
}
