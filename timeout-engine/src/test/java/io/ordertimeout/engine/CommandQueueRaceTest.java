package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Races producers against one worker that polls like {@link TimersWorker} and parks when idle. */
class CommandQueueRaceTest {

  private static final int PRODUCERS = 3;

  /** The producer number of the worker's own commands. */
  private static final int WORKER = PRODUCERS;

  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          work -> {
            Thread thread = new Thread(work);
            thread.setDaemon(true);
            return thread;
          });
  private final WakeUpFlag wakeUp = new WakeUpFlag(ParkStrategy::parkCurrentThread);

  @AfterEach
  void endThreads() {
    threads.shutdownNow();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4, 64})
  void deliversEveryCommandOnceInProducerOrder(int capacity) throws Exception {
    int each = 15_000;
    CommandQueue queue = new CommandQueue(capacity);
    List<Callable<Integer>> producers = new ArrayList<>();
    for (int producer = 0; producer < PRODUCERS; producer++) {
      int from = producer;
      producers.add(() -> put(queue, from, each, new AtomicBoolean()));
    }
    long[] next = new long[PRODUCERS + 1];
    Future<?> worker =
        work(
            () -> {
              long all = (long) PRODUCERS * each;
              long polled = 0;
              while (true) {
                wakeUp.clear();
                for (Command command = queue.poll(); command != null; command = queue.poll()) {
                  expectNext(command, next);
                  boolean own = ((TimerChange) command).shard() == WORKER;
                  if (!own && ++polled % 8 == 0) {
                    queue.putOwn(command(WORKER, polled / 8 - 1));
                  }
                }
                queue.releaseWaiting();
                if (polled == all && next[WORKER] == all / 8) {
                  return;
                }
                if (queue.isEmpty()) {
                  wakeUp.parkUnlessRaised(Long.MAX_VALUE);
                }
              }
            },
            producers);
    worker.get();
    for (int producer = 0; producer < PRODUCERS; producer++) {
      assertThat(next[producer]).isEqualTo(each);
    }
    assertThat(queue.isEmpty()).isTrue();
  }

  /** With a single producer, no other producer's wake-up hides a missed release. */
  @Test
  void releasesABlockedProducer() throws Exception {
    int commands = 100_000;
    CommandQueue queue = new CommandQueue(1);
    long[] next = new long[PRODUCERS + 1];
    Future<?> worker =
        work(
            () -> {
              while (true) {
                wakeUp.clear();
                for (Command command = queue.poll(); command != null; command = queue.poll()) {
                  expectNext(command, next);
                }
                queue.releaseWaiting();
                if (next[0] == commands) {
                  return;
                }
                if (queue.isEmpty()) {
                  wakeUp.parkUnlessRaised(Long.MAX_VALUE);
                }
              }
            },
            List.of(() -> put(queue, 0, commands, new AtomicBoolean())));
    worker.get();
  }

  @Test
  void closingRejectsBlockedProducersAndKeepsAcceptedCommands() throws Exception {
    AtomicLong rejections = new AtomicLong();
    for (int round = 0; round < 1000; round++) {
      CommandQueue queue = new CommandQueue(2);
      AtomicBoolean closed = new AtomicBoolean();
      List<Future<Integer>> accepted = new ArrayList<>();
      for (int producer = 0; producer < PRODUCERS; producer++) {
        int from = producer;
        accepted.add(threads.submit(() -> put(queue, from, 20, closed)));
      }
      long[] next = new long[PRODUCERS + 1];
      for (int polls = round % 40; polls > 0; ) {
        Command command = queue.poll();
        if (command != null) {
          expectNext(command, next);
          queue.releaseWaiting();
          polls--;
        } else {
          RaceHarness.yieldProcessor();
        }
      }
      closed.set(true);
      queue.releaseWaiting();
      int[] acceptedCounts = new int[PRODUCERS];
      for (int producer = 0; producer < PRODUCERS; producer++) {
        acceptedCounts[producer] = accepted.get(producer).get();
        rejections.addAndGet(acceptedCounts[producer] < 20 ? 1 : 0);
      }
      for (Command command = queue.poll(); command != null; command = queue.poll()) {
        expectNext(command, next);
      }
      for (int producer = 0; producer < PRODUCERS; producer++) {
        assertThat(next[producer]).as("round %s", round).isEqualTo(acceptedCounts[producer]);
      }
    }
    assertThat(rejections).hasPositiveValue();
  }

  /** Returns the number of commands accepted before the first rejected one. */
  private int put(CommandQueue queue, int producer, int commands, AtomicBoolean closed) {
    for (int i = 0; i < commands; i++) {
      if (!queue.put(command(producer, i), closed::get)) {
        return i;
      }
      wakeUp.raise();
    }
    return commands;
  }

  /** Starts the worker, then the producers. */
  private Future<?> work(Runnable loop, List<Callable<Integer>> producers) {
    CompletableFuture<Void> ended = new CompletableFuture<>();
    Thread worker =
        new Thread(
            () -> {
              try {
                loop.run();
                ended.complete(null);
              } catch (Throwable failure) {
                ended.completeExceptionally(failure);
              }
            });
    worker.setDaemon(true);
    wakeUp.setWorker(worker);
    worker.start();
    List<Future<Integer>> started = new ArrayList<>();
    for (Callable<Integer> producer : producers) {
      started.add(threads.submit(producer));
    }
    assertThat(started).hasSameSizeAs(producers);
    return ended;
  }

  private static Command command(int producer, long number) {
    return new TimerChange(producer, number, false, 0);
  }

  private static void expectNext(Command command, long[] next) {
    TimerChange change = (TimerChange) command;
    int producer = change.shard();
    if (change.id() != next[producer]) {
      throw new AssertionError(
          "producer " + producer + ": command " + change.id() + " instead of " + next[producer]);
    }
    next[producer]++;
  }
}
