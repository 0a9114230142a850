package io.ordertimeout.it.chaos;

import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.ServiceProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import java.util.random.RandomGenerator;
import org.awaitility.core.ConditionTimeoutException;

/** The instances of the service, with an orchestrator that replaces ended ones. */
final class Fleet implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final List<String> JVM_OPTIONS = List.of("-Xmx192m");
  private static final Duration COORDINATOR_PATIENCE = Duration.ofSeconds(90);

  private final Scenario scenario;
  private final Runnable restartBroker;
  private final List<ServiceProcess> instances = new ArrayList<>();
  private int started;
  private int endedThemselves;

  Fleet(Scenario scenario, Runnable restartBroker) {
    this.restartBroker = restartBroker;
    this.scenario = scenario;
  }

  int size() {
    return instances.size();
  }

  /** Returns the number of instances that ended on their own. */
  int endedThemselves() {
    return endedThemselves;
  }

  /** Starts new instances, or stops the youngest ones with SIGTERM. */
  void scaleTo(int size) {
    while (instances.size() < size) {
      start();
    }
    while (instances.size() > size) {
      stop(instances.remove(instances.size() - 1));
    }
  }

  /** Kills one instance and starts another in its place. */
  void killOne(RandomGenerator random) {
    instances.remove(random.nextInt(instances.size())).kill();
    start();
  }

  ServiceProcess any(RandomGenerator random) {
    return instances.get(random.nextInt(instances.size()));
  }

  /** Replaces the instances one by one, each once the previous one is ready. */
  void roll() {
    for (ServiceProcess old : List.copyOf(instances)) {
      instances.remove(old);
      stop(old);
      start();
      awaitOneReady();
    }
  }

  /** Replaces instances that have ended. */
  void replaceEnded() {
    for (ServiceProcess instance : List.copyOf(instances)) {
      if (!instance.isAlive()) {
        instances.remove(instance);
        instance.close();
        endedThemselves++;
        start();
      }
    }
  }

  void awaitOneReady() {
    awaitReady("an instance", () -> instances.stream().anyMatch(ServiceProcess::isReady));
  }

  void awaitAllReady() {
    awaitReady("all instances", () -> instances.stream().allMatch(ServiceProcess::isReady));
  }

  /**
   * Waits, and restarts the broker if that takes too long: a killed broker may come back with a
   * group coordinator that could not load its log ("out of sync with the underlying log", then a
   * failure to replay it), and then no instance can join the group.
   */
  private void awaitReady(String what, Callable<Boolean> ready) {
    Callable<Boolean> condition =
        () -> {
          replaceEnded();
          return ready.call();
        };
    try {
      await(what).atMost(COORDINATOR_PATIENCE).until(condition);
    } catch (ConditionTimeoutException e) {
      restartBroker.run();
      await(what).atMost(PATIENCE).until(condition);
    }
  }

  /** Returns the sum of a metric over all instances; empty if none exports it. */
  OptionalDouble metric(String name) throws IOException {
    double sum = 0;
    boolean found = false;
    for (ServiceProcess instance : instances) {
      OptionalDouble value = instance.metric(name);
      found |= value.isPresent();
      sum += value.orElse(0);
    }
    return found ? OptionalDouble.of(sum) : OptionalDouble.empty();
  }

  private void start() {
    instances.add(
        scenario.startProcess(
            scenario.name() + "-" + started++,
            JVM_OPTIONS,
            "order-timeout.reconciler.interval",
            "5s"));
  }

  private static void stop(ServiceProcess instance) {
    boolean wasAlive = instance.isAlive();
    if (!instance.stop() && wasAlive) {
      throw new IllegalStateException(
          "process " + instance.pid() + " did not stop within its patience");
    }
  }

  @Override
  public void close() {
    instances.forEach(ServiceProcess::close);
  }
}
