package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Tests of opening, loading, dropping and stopping shards. */
class ShardLifecycleTest extends ShardedTimersTestBase {

  @Test
  void loadingDoesNotRestoreTimersChangedSinceOpen() throws InterruptedException {
    timers.openForLoading(0);
    timers.cancel(0, 1);
    timers.schedule(0, 2, NOW + 5000);
    timers.schedule(0, 3, NOW);
    awaitIdle();
    onlyBatch().done();
    timers.load(
        0,
        new long[] {1, 2, 3, 4, 5},
        new long[] {NOW + 10, NOW + 10, NOW + 10, NOW + 10, NOW + 5000},
        5);
    timers.load(0, new long[] {5}, new long[] {NOW + 6000}, 1);
    timers.loaded(0);

    setClock(NOW + 10);
    DueBatch batch = onlyBatch();
    assertThat(batch.ids()).containsExactly(4);
    batch.done();
    awaitIdle();
    assertThat(timers.pending(0)).as("timers 2 and 5").isEqualTo(2);

    timers.load(0, new long[] {1, 2}, new long[] {NOW + 20, NOW + 20}, 2);
    setClock(NOW + 20);
    assertThat(onlyBatch().ids()).as("armed after loading has ended").containsExactly(1);
  }

  @Test
  void deliversWhileLoading() throws InterruptedException {
    timers.openForLoading(0);
    timers.load(0, new long[] {1}, new long[] {NOW - 1}, 1);
    awaitIdle();

    assertThat(onlyBatch().ids()).containsExactly(1);
  }

  @Test
  void droppedShardForgetsItsTimersAndIgnoresChanges() throws InterruptedException {
    timers.open(0);
    timers.schedule(0, new long[] {1, 2}, new long[] {NOW, NOW + 10}, 2);
    awaitIdle();
    timers.drop(0);
    timers.schedule(0, 3, NOW);
    timers.load(0, new long[] {4}, new long[] {NOW}, 1);
    timers.cancel(0, 2);
    timers.loaded(0);
    awaitIdle();

    onlyBatch().done();
    setClock(NOW + 10);
    assertThat(batches).isEmpty();
    assertThat(timers.pending(0)).isZero();
  }

  @Test
  void openingAnOpenShardReplacesIt() throws InterruptedException {
    timers.openForLoading(0);
    timers.schedule(0, new long[] {1, 2}, new long[] {NOW, NOW + 10}, 2);
    awaitIdle();
    DueBatch old = onlyBatch();
    timers.openForLoading(0);
    timers.load(0, new long[] {3, 4}, new long[] {NOW, NOW + 10}, 2);
    awaitIdle();
    assertThat(onlyBatch().ids()).containsExactly(3);

    old.done();
    setClock(NOW + 10);
    assertThat(batches).as("the new batch still holds back the shard").isEmpty();
    assertThat(timers.pending(0)).isEqualTo(2);
  }

  @Test
  void stopReturnsArmedButNotDeliveredTimers() throws InterruptedException {
    timers.open(0);
    timers.open(1);
    timers.schedule(0, 1, NOW);
    awaitIdle();
    long[] ids = new long[5000];
    long[] deadlinesMillis = new long[5000];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = 100L + i;
      deadlinesMillis[i] = NOW + 1000L + i;
    }
    timers.schedule(0, ids, deadlinesMillis, ids.length);

    List<ArmedTimers> armed = timers.stop();

    assertThat(armed).extracting(ArmedTimers::shard).containsExactlyInAnyOrder(0, 1);
    ArmedTimers ofShard0 = armed.get(armed.get(0).shard() == 0 ? 0 : 1);
    assertThat(ofShard0.size()).isEqualTo(5000);
    assertThat(ofShard0.deadlineMillis(0) - NOW - 1000).isEqualTo(ofShard0.id(0) - 100);
    assertThat(ofShard0).hasToString("ArmedTimers[shard=0, size=5000]");
    assertThat(timers.stop()).as("they were handed over").isEmpty();
    assertThat(timers.pending()).isZero();
  }

  @Test
  void rejectsChangesAfterClose() {
    timers.close();
    timers.close();
    timers.clockChanged();

    assertThatIllegalStateException()
        .isThrownBy(() -> timers.open(0))
        .withMessage("stopped and cannot be restarted; create a new instance");
    assertThatIllegalStateException().isThrownBy(() -> timers.schedule(0, 1, 1));
    assertThatIllegalStateException().isThrownBy(() -> timers.cancel(0, 1));
    assertThatIllegalStateException().isThrownBy(() -> timers.drop(0));
  }

  @Test
  void listenerMayCloseButNotStop() throws InterruptedException {
    CountDownLatch scheduled = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    beforeQueueing =
        batch -> {
          awaitQuietly(scheduled);
          assertThatIllegalStateException().isThrownBy(timers::stop);
          timers.close();
          closed.countDown();
        };
    timers.open(0);
    timers.schedule(0, 1, NOW);
    scheduled.countDown();

    closed.await();
    assertThat(timers.stop()).singleElement().extracting(ArmedTimers::size).isEqualTo(0);
  }
}
