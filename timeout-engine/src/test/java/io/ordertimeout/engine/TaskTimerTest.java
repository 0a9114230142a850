package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TaskTimerTest {

  private static final TimersConfig CONFIG =
      new TimersConfig(
          "tasks",
          Duration.ofMillis(1),
          10,
          64,
          Duration.ofMillis(50),
          Duration.ofSeconds(1),
          Long.MAX_VALUE);

  private final ManualClock clock = new ManualClock(1_000);
  private final BlockingQueue<Runnable> handedOver = new LinkedBlockingQueue<>();
  private final List<String> ran = new ArrayList<>();
  private final CapturedLog log = new CapturedLog();
  private volatile Executor executor = handedOver::add;
  private final ObservedParking parking = new ObservedParking();
  private final ShardedTimers[] front = new ShardedTimers[1];
  private final TaskTimer timer =
      new TaskTimer(
          listener -> {
            front[0] = new ShardedTimers(CONFIG, clock, listener, parking);
            return front[0];
          },
          CONFIG.retryDelay(),
          clock,
          task -> executor.execute(task));

  @AfterEach
  void close() {
    timer.close();
    log.close();
  }

  private void moveTo(long nowMillis) throws InterruptedException {
    clock.set(nowMillis);
    parking.settle(front[0]);
  }

  private void runHandedOver() {
    for (Runnable task = handedOver.poll(); task != null; task = handedOver.poll()) {
      task.run();
    }
  }

  @Test
  void runsATaskOnceItsDelayHasPassedAndNotBefore() throws InterruptedException {
    ScheduledTask task = timer.schedule(() -> ran.add("a"), Duration.ofMillis(100));

    moveTo(1_100);
    assertThat(handedOver)
        .as("the millisecond it was scheduled in may have been half over")
        .isEmpty();
    assertThat(task.isExpired()).isFalse();
    moveTo(1_101);
    runHandedOver();

    assertThat(ran).containsExactly("a");
    assertThat(task.isExpired()).isTrue();
    assertThat(task.isCancelled()).isFalse();
    assertThat(task.cancel()).isFalse();
    assertThat(timer.pending()).isZero();
  }

  @Test
  void aCancelledTaskNeverRuns() throws InterruptedException {
    ScheduledTask task = timer.schedule(() -> ran.add("a"), Duration.ofMillis(100));

    assertThat(task.cancel()).isTrue();
    assertThat(task.cancel()).isFalse();
    assertThat(task.isCancelled()).isTrue();
    assertThat(timer.pending()).isZero();
    moveTo(2_000);

    assertThat(handedOver).isEmpty();
    assertThat(front[0].pending()).isZero();
  }

  @Test
  void aTaskCancelledBetweenExecutorAndRunDoesNotRun() throws InterruptedException {
    ScheduledTask task = timer.schedule(() -> ran.add("a"), Duration.ZERO);
    moveTo(1_002);
    assertThat(handedOver).hasSize(1);

    assertThat(task.cancel()).isTrue();
    runHandedOver();

    assertThat(ran).isEmpty();
    assertThat(task.isExpired()).isFalse();
  }

  @Test
  void whatTheExecutorRejectsIsOfferedAgainAndNothingElseTwice() throws InterruptedException {
    executor =
        task -> {
          if (handedOver.size() == 1) {
            throw new RejectedExecutionException("full");
          }
          handedOver.add(task);
        };
    for (String name : List.of("a", "b", "c")) {
      timer.schedule(() -> ran.add(name), Duration.ZERO);
    }
    moveTo(1_002);
    assertThat(handedOver).hasSize(1);
    assertThat(timer.pending()).isEqualTo(3);

    executor = handedOver::add;
    moveTo(1_051);
    assertThat(handedOver).as("not before the retry delay").hasSize(1);
    moveTo(1_052);
    runHandedOver();

    assertThat(ran).containsExactlyInAnyOrder("a", "b", "c");
    assertThat(log.messages()).allMatch(message -> message.contains("rejected")).hasSize(2);
  }

  @Test
  void aFailingTaskIsReportedAndHarmsNoOther() throws InterruptedException {
    timer.schedule(
        () -> {
          throw new UnsupportedOperationException("on purpose");
        },
        Duration.ZERO);
    timer.schedule(() -> ran.add("b"), Duration.ZERO);

    moveTo(1_002);
    runHandedOver();

    assertThat(ran).containsExactly("b");
    assertThat(log.messages()).hasSize(1).allMatch(message -> message.contains("task failed"));
  }

  @Test
  void stopReturnsWhatIsUnprocessed() throws InterruptedException {
    ScheduledTask late = timer.schedule(() -> ran.add("late"), Duration.ofDays(1));
    ScheduledTask cancelled = timer.schedule(() -> ran.add("never"), Duration.ofDays(1));
    cancelled.cancel();
    timer.schedule(() -> ran.add("run"), Duration.ZERO);
    moveTo(1_002);
    runHandedOver();

    assertThat(timer.stop()).containsExactly(late);
    assertThat(timer.stop()).isEmpty();
    late.task().run();
    assertThat(ran).containsExactly("run", "late");
    assertThat(late.cancel()).as("also after the stop").isTrue();
    assertThatIllegalStateException()
        .isThrownBy(() -> timer.schedule(() -> {}, Duration.ZERO))
        .withMessageContaining("cannot be started again");
    assertThat(timer.pending()).isZero();
  }

  @Test
  void delaysOfAnyLengthAreAllowed() throws InterruptedException {
    timer.schedule(() -> ran.add("past"), Duration.ofDays(-1));
    timer.schedule(() -> ran.add("beginning"), Duration.ofSeconds(Long.MIN_VALUE));
    timer.schedule(() -> ran.add("never"), Duration.ofSeconds(Long.MAX_VALUE));

    moveTo(1_002);
    runHandedOver();

    assertThat(ran).containsExactlyInAnyOrder("past", "beginning");
    assertThat(timer.pending()).isOne();
  }

  @Test
  void refusesMoreThanTheMaximum() {
    try (TaskTimer two = new TaskTimer(CONFIG.withMaxPending(2), Runnable::run)) {
      two.schedule(() -> {}, Duration.ofDays(1));
      two.schedule(() -> {}, Duration.ofDays(1));

      assertThatExceptionOfType(RejectedExecutionException.class)
          .isThrownBy(() -> two.schedule(() -> {}, Duration.ofDays(1)))
          .withMessageContaining("limit of 2");
      assertThat(two.pending()).isEqualTo(2);
    }
  }

  @Test
  void goesByARealClock() throws InterruptedException {
    CountDownLatch done = new CountDownLatch(1);
    try (TaskTimer real = new TaskTimer(TimersConfig.defaults("real"), Runnable::run)) {
      long start = System.nanoTime();
      long[] took = new long[1];
      real.schedule(
          () -> {
            took[0] = System.nanoTime() - start;
            done.countDown();
          },
          Duration.ofMillis(20));

      done.await();
      assertThat(took[0]).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(20));
    }
  }
}
