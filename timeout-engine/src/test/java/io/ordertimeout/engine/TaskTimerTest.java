package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

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

  private static final TimersConfig CONFIG = config().build();

  private final ManualClock clock = new ManualClock(1_000);
  private final BlockingQueue<Runnable> submitted = new LinkedBlockingQueue<>();
  private final List<String> ran = new ArrayList<>();
  private final CapturedLog log = new CapturedLog();
  private volatile Executor executor = submitted::add;
  private final RecordingParkStrategy parkStrategy = new RecordingParkStrategy();
  private final ShardedTimers[] timers = new ShardedTimers[1];
  private final TaskTimer timer =
      new TaskTimer(
          listener -> {
            timers[0] = new ShardedTimers(CONFIG, clock, listener, parkStrategy);
            return timers[0];
          },
          CONFIG,
          clock,
          task -> executor.execute(task));

  private static TimersConfig.Builder config() {
    return TimersConfig.builder("tasks")
        .tick(Duration.ofMillis(1))
        .batchSize(10)
        .queueCapacity(64)
        .retryDelay(Duration.ofMillis(50));
  }

  private static TaskTimer withLimit(int maxPending) {
    return new TaskTimer(config().maxPending(maxPending).build(), Runnable::run);
  }

  @AfterEach
  void close() {
    timer.close();
    log.close();
  }

  private void setClock(long nowMillis) throws InterruptedException {
    clock.set(nowMillis);
    parkStrategy.awaitIdle(timers[0]);
  }

  private void runHandedOver() {
    for (Runnable task = submitted.poll(); task != null; task = submitted.poll()) {
      task.run();
    }
  }

  @Test
  void runsATaskAfterItsDelayAndNotBefore() throws InterruptedException {
    ScheduledTask task = timer.schedule(() -> ran.add("a"), Duration.ofMillis(100));

    setClock(1_100);
    assertThat(submitted)
        .as("part of the first millisecond may have elapsed before the call")
        .isEmpty();
    assertThat(task.isExpired()).isFalse();
    setClock(1_101);
    runHandedOver();

    assertThat(ran).containsExactly("a");
    assertThat(task.isExpired()).isTrue();
    assertThat(task.isCancelled()).isFalse();
    assertThat(task.cancel()).isFalse();
    assertThat(timer.pending()).isZero();
  }

  @Test
  void returnsTheRemainingTime() throws InterruptedException {
    ScheduledTask task = timer.schedule(() -> {}, Duration.ofMillis(100));
    ScheduledTask never = timer.schedule(() -> {}, Duration.ofSeconds(Long.MAX_VALUE));
    assertThat(task.remaining()).isEqualTo(Duration.ofMillis(101));

    setClock(1_041);
    assertThat(task.remaining()).isEqualTo(Duration.ofMillis(60));
    setClock(1_101);
    assertThat(task.remaining()).isZero();
    setClock(2_000);
    assertThat(task.remaining()).isZero();
    assertThat(never.remaining()).isEqualTo(Duration.ofMillis(Long.MAX_VALUE - 2_000));
  }

  @Test
  void countsLateTasks() throws InterruptedException {
    timer.schedule(() -> {}, Duration.ofMillis(100));
    timer.schedule(() -> {}, Duration.ofSeconds(1));

    setClock(2_101);

    assertThat(submitted).hasSize(2);
    assertThat(timer.late()).as("late after a second").isOne();
  }

  @Test
  void forecastsWaitingTasks() {
    for (int second = 1; second <= 5; second++) {
      timer.schedule(() -> {}, Duration.ofSeconds(second));
    }
    timer.schedule(() -> {}, Duration.ofSeconds(1)).cancel();

    assertThat(
            timer
                .forecast(Duration.ZERO, Duration.ofSeconds(2), Duration.ofSeconds(Long.MAX_VALUE))
                .join())
        .containsExactly(0, 2, 5);
  }

  @Test
  void cancelledTaskNeverRuns() throws InterruptedException {
    ScheduledTask task = timer.schedule(() -> ran.add("a"), Duration.ofMillis(100));

    assertThat(task.cancel()).isTrue();
    assertThat(task.cancel()).isFalse();
    assertThat(task.isCancelled()).isTrue();
    assertThat(timer.pending()).isZero();
    setClock(2_000);

    assertThat(submitted).isEmpty();
    assertThat(timers[0].pending()).isZero();
  }

  @Test
  void taskCancelledAfterSubmissionDoesNotRun() throws InterruptedException {
    ScheduledTask task = timer.schedule(() -> ran.add("a"), Duration.ZERO);
    setClock(1_002);
    assertThat(submitted).hasSize(1);

    assertThat(task.cancel()).isTrue();
    runHandedOver();

    assertThat(ran).isEmpty();
    assertThat(task.isExpired()).isFalse();
  }

  @Test
  void retriesRejectedTasksAndSubmitsNoOtherTwice() throws InterruptedException {
    executor =
        task -> {
          if (submitted.size() == 1) {
            throw new RejectedExecutionException("full");
          }
          submitted.add(task);
        };
    for (String name : List.of("a", "b", "c")) {
      timer.schedule(() -> ran.add(name), Duration.ZERO);
    }
    setClock(1_002);
    assertThat(submitted).hasSize(1);
    assertThat(timer.pending()).isEqualTo(3);

    executor = submitted::add;
    setClock(1_051);
    assertThat(submitted).as("before the retry delay").hasSize(1);
    setClock(1_052);
    runHandedOver();

    assertThat(ran).containsExactlyInAnyOrder("a", "b", "c");
    assertThat(log.messages()).allMatch(message -> message.contains("rejected")).hasSize(2);
  }

  @Test
  void failingTaskIsLoggedAndAffectsNoOther() throws InterruptedException {
    timer.schedule(
        () -> {
          throw new UnsupportedOperationException("on purpose");
        },
        Duration.ZERO);
    timer.schedule(() -> ran.add("b"), Duration.ZERO);

    setClock(1_002);
    runHandedOver();

    assertThat(ran).containsExactly("b");
    assertThat(log.messages()).hasSize(1).allMatch(message -> message.contains("Task failed"));
  }

  @Test
  void stopReturnsUnprocessedTasks() throws InterruptedException {
    ScheduledTask late = timer.schedule(() -> ran.add("late"), Duration.ofDays(1));
    ScheduledTask cancelled = timer.schedule(() -> ran.add("never"), Duration.ofDays(1));
    cancelled.cancel();
    timer.schedule(() -> ran.add("run"), Duration.ZERO);
    setClock(1_002);
    runHandedOver();

    assertThat(timer.stop()).containsExactly(late);
    assertThat(timer.stop()).isEmpty();
    late.task().run();
    assertThat(ran).containsExactly("run", "late");
    assertThat(late.cancel()).as("cancelled by the stop").isFalse();
    assertThatIllegalStateException()
        .isThrownBy(() -> timer.schedule(() -> {}, Duration.ZERO))
        .withMessageContaining("cannot be restarted");
    assertThat(timer.pending()).isZero();
  }

  @Test
  void stopCancelsTasksThatWereSubmittedButHaveNotRun() throws InterruptedException {
    ScheduledTask submittedTask = timer.schedule(() -> ran.add("submitted"), Duration.ZERO);
    ScheduledTask waitingTask = timer.schedule(() -> ran.add("waiting"), Duration.ofDays(1));
    setClock(1_002);
    assertThat(submitted).hasSize(1);

    assertThat(timer.stop()).containsExactlyInAnyOrder(submittedTask, waitingTask);
    runHandedOver();

    assertThat(ran).as("a task that was returned must not run as well").isEmpty();
    assertThat(submittedTask.isCancelled()).isTrue();
    assertThat(waitingTask.isCancelled()).isTrue();
    assertThat(waitingTask.cancel()).as("cancelled by the stop").isFalse();
  }

  @Test
  void closeCancelsWaitingTasks() {
    ScheduledTask task = timer.schedule(() -> ran.add("never"), Duration.ofDays(1));

    timer.close();

    assertThat(timer.pending()).isZero();
    assertThat(task.isCancelled()).isTrue();
  }

  @Test
  void closeByATaskOnTheWorkerCancelsTheOthers() throws InterruptedException {
    CountDownLatch closed = new CountDownLatch(1);
    executor = Runnable::run;
    ScheduledTask other = timer.schedule(() -> ran.add("never"), Duration.ofDays(1));
    ScheduledTask first =
        timer.schedule(
            () -> {
              timer.close();
              closed.countDown();
            },
            Duration.ZERO);

    clock.set(1_002);
    timers[0].clockChanged();
    closed.await();

    assertThat(first.isExpired()).isTrue();
    assertThat(other.isCancelled()).isTrue();
    assertThat(timer.pending()).isZero();
  }

  @Test
  @SuppressWarnings("NullAway") // A caller need not check nullness when compiling.
  void requiresATaskADelayAndAnExecutor() {
    assertThatNullPointerException()
        .isThrownBy(() -> timer.schedule(null, Duration.ZERO))
        .withMessage("task");
    assertThatNullPointerException()
        .isThrownBy(() -> timer.schedule(() -> {}, null))
        .withMessage("delay");
    assertThatNullPointerException()
        .isThrownBy(() -> new TaskTimer(CONFIG, null))
        .withMessage("executor");
    assertThat(timer.pending()).isZero();
  }

  @Test
  void runningTaskMayScheduleItselfAgainAtTheLimit() throws InterruptedException {
    CountDownLatch runs = new CountDownLatch(3);
    try (TaskTimer one = withLimit(1)) {
      Runnable again =
          new Runnable() {
            @Override
            public void run() {
              runs.countDown();
              if (runs.getCount() > 0) {
                one.schedule(this, Duration.ZERO);
              }
            }
          };
      one.schedule(again, Duration.ZERO);

      runs.await();
    }
    assertThat(log.messages()).isEmpty();
  }

  @Test
  void cancelledTaskMakesRoomAtTheLimit() {
    try (TaskTimer one = withLimit(1)) {
      for (int i = 0; i < 1_000; i++) {
        assertThat(one.schedule(() -> {}, Duration.ofDays(1)).cancel()).isTrue();
      }
      assertThat(one.pending()).isZero();
    }
  }

  @Test
  void allowsDelaysOfAnyLength() throws InterruptedException {
    timer.schedule(() -> ran.add("past"), Duration.ofDays(-1));
    timer.schedule(() -> ran.add("beginning"), Duration.ofSeconds(Long.MIN_VALUE));
    timer.schedule(() -> ran.add("never"), Duration.ofSeconds(Long.MAX_VALUE));

    setClock(1_002);
    runHandedOver();

    assertThat(ran).containsExactlyInAnyOrder("past", "beginning");
    assertThat(timer.pending()).isOne();
  }

  @Test
  void rejectsTasksBeyondMaxPending() {
    try (TaskTimer two = withLimit(2)) {
      two.schedule(() -> {}, Duration.ofDays(1));
      two.schedule(() -> {}, Duration.ofDays(1));

      assertThatExceptionOfType(RejectedExecutionException.class)
          .isThrownBy(() -> two.schedule(() -> {}, Duration.ofDays(1)))
          .withMessageContaining("limit of 2");
      assertThat(two.pending()).isEqualTo(2);
    }
  }

  @Test
  void acceptsAsManyTasksAsMaxPendingWhileTheWorkerCountsThem() {
    int limit = 2_000;
    for (int round = 0; round < 50; round++) {
      try (TaskTimer limited = withLimit(limit)) {
        for (int i = 0; i < limit; i++) {
          limited.schedule(() -> {}, Duration.ofDays(1));
        }
        assertThat(limited.pending()).isEqualTo(limit);
      }
    }
  }

  @Test
  void worksWithTheSystemClock() throws InterruptedException {
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
