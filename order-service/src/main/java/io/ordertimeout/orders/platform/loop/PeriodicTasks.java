package io.ordertimeout.orders.platform.loop;

import io.ordertimeout.orders.LifecyclePhases;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * All that is repeated at an interval. Each task has a thread of its own, so that one that waits
 * for Postgres delays no other. They start after everything that they observe or maintain, and stop
 * before it. Thread-safe.
 */
@Component
public class PeriodicTasks implements SmartLifecycle, LoopThreads {

  /** A task that is repeated. */
  @FunctionalInterface
  public interface Task {

    /**
     * Runs the task once. An interrupt means that the instance is stopping.
     *
     * @throws Exception if it fails, which is recorded; it is repeated soon
     */
    void run() throws Exception;
  }

  /** A failed run is repeated soon: while a step is failing, its instance is not ready. */
  private static final Duration LONGEST_RETRY_DELAY = Duration.ofSeconds(5);

  private final StepHealthRegistry steps;
  private final List<Loop> loops = new CopyOnWriteArrayList<>();
  private volatile boolean running;

  PeriodicTasks(StepHealthRegistry steps) {
    this.steps = steps;
  }

  /**
   * Repeats a task for as long as the instance runs, for the first time one interval after the
   * start. Must be called before the start, by the constructor of a bean.
   *
   * @param step names the task in logs and metrics, and its thread
   * @param interval pause between the end of a run and the next run
   * @param consequence what a failed run means for orders, for the log
   */
  public void repeat(String step, Duration interval, String consequence, Task task) {
    loops.add(new Loop(steps.step(step), interval, consequence, task));
  }

  @Override
  public void start() {
    running = true;
    loops.forEach(Loop::start);
  }

  @Override
  public void stop() {
    running = false;
    loops.forEach(Loop::requestStop);
    loops.forEach(Loop::stop);
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public int getPhase() {
    return LifecyclePhases.PERIODIC_TASKS;
  }

  @Override
  public List<String> endedThreads() {
    return loops.stream().flatMap(loop -> loop.endedThreads().stream()).toList();
  }

  private static final class Loop extends BackgroundLoop {

    private final StepHealth step;
    private final Duration interval;
    private final Task task;

    Loop(StepHealth step, Duration interval, String consequence, Task task) {
      super(step, LifecyclePhases.PERIODIC_TASKS, retryDelay(interval), consequence);
      this.step = step;
      this.interval = interval;
      this.task = task;
    }

    private static Duration retryDelay(Duration interval) {
      return interval.compareTo(LONGEST_RETRY_DELAY) < 0 ? interval : LONGEST_RETRY_DELAY;
    }

    @Override
    protected void runOnce() throws Exception {
      if (step.failingFor().isZero()) {
        TimeUnit.NANOSECONDS.sleep(interval.toNanos());
      }
      task.run();
      step.succeeded();
    }
  }
}
