package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Tests of the bounded queue between callers and the worker. */
class ShardedTimersQueueTest extends ShardedTimersTestBase {

  @Test
  void rejectsArraysThatAreTooShort() {
    long[] two = new long[2];

    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> timers.schedule(0, two, new long[1], 2));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> timers.load(0, two, two, 3));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> timers.cancel(0, two, -1));
  }

  @Test
  void copiesArrays() throws InterruptedException {
    timers.open(0);
    long[] ids = {1, 2};
    long[] deadlinesMillis = {NOW + 10, NOW + 10};
    timers.schedule(0, ids, deadlinesMillis, 2);
    ids[0] = 9;
    deadlinesMillis[1] = NOW;

    awaitIdle();
    assertThat(batches).isEmpty();
    setClock(NOW + 10);
    assertThat(onlyBatch().ids()).containsExactlyInAnyOrder(1, 2);
  }

  /** Blocks the worker in the listener until the latch is released. */
  private void blockTheWorkerUntil(CountDownLatch release) throws InterruptedException {
    CountDownLatch inListener = new CountDownLatch(1);
    beforeQueueing =
        batch -> {
          inListener.countDown();
          awaitQuietly(release);
        };
    timers.open(0);
    timers.schedule(0, 1, NOW);
    inListener.await();
  }

  @Test
  void callersBlockWhileTheQueueIsFull() throws InterruptedException {
    CountDownLatch release = new CountDownLatch(1);
    blockTheWorkerUntil(release);
    AtomicInteger accepted = new AtomicInteger();
    AtomicBoolean interruptedAfter = new AtomicBoolean();
    Thread caller =
        new Thread(
            () -> {
              for (int i = 0; i < 50; i++) {
                timers.schedule(0, 100 + i, NOW + 1000);
                accepted.incrementAndGet();
              }
              interruptedAfter.set(Thread.currentThread().isInterrupted());
            });
    caller.start();
    awaitWaiting(caller);
    assertThat(accepted).hasValue(16);
    caller.interrupt();

    release.countDown();
    caller.join();
    awaitIdle();
    assertThat(accepted).hasValue(50);
    assertThat(interruptedAfter).isTrue();
    assertThat(timers.pending(0)).isEqualTo(51);
  }

  @Test
  void blockedCallersFailOnClose() throws InterruptedException {
    CountDownLatch release = new CountDownLatch(1);
    blockTheWorkerUntil(release);
    AtomicInteger accepted = new AtomicInteger();
    AtomicReference<String> failure = new AtomicReference<>("");
    Thread caller =
        new Thread(
            () -> {
              try {
                for (int i = 0; i < 50; i++) {
                  timers.schedule(0, 100 + i, NOW + 1000);
                  accepted.incrementAndGet();
                }
              } catch (IllegalStateException e) {
                failure.set(e.getMessage());
              }
            });
    caller.start();
    awaitWaiting(caller);
    List<ArmedTimers> armed = new ArrayList<>();
    Thread stopper = new Thread(() -> armed.addAll(timers.stop()));
    stopper.start();
    caller.join();
    release.countDown();
    stopper.join();

    assertThat(failure).hasValueMatching(message -> message.startsWith("stopped"));
    assertThat(armed).singleElement().extracting(ArmedTimers::size).isEqualTo(16);
    assertThat(accepted).hasValue(16);
  }

  @Test
  void listenerChangesNeverBlockAndStayInOrder() throws InterruptedException {
    beforeQueueing =
        batch -> {
          beforeQueueing = later -> {};
          for (int i = 0; i < 100; i++) {
            timers.schedule(0, 7, NOW + 1000 + i);
            timers.schedule(0, 100 + i, NOW + 5000);
            timers.cancel(0, 100 + i);
          }
        };
    timers.open(0);
    timers.schedule(0, 1, NOW);
    awaitIdle();
    onlyBatch().done();
    awaitIdle();

    assertThat(timers.pending(0)).isEqualTo(1);
    setClock(NOW + 1098);
    assertThat(batches).isEmpty();
    setClock(NOW + 1099);
    assertThat(onlyBatch().ids()).containsExactly(7);
  }
}
