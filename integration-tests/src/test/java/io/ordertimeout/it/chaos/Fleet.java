package io.ordertimeout.it.chaos;

import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.rig.ServiceProcess;
import io.ordertimeout.it.rig.Stage;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.random.RandomGenerator;

/** The instances of the service, and an orchestrator that starts anew what has ended. */
final class Fleet implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final List<String> SMALL =
      List.of("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

  private final Stage stage;
  private final List<ServiceProcess> instances = new ArrayList<>();
  private int started;
  private int endedThemselves;

  Fleet(Stage stage) {
    this.stage = stage;
  }

  int size() {
    return instances.size();
  }

  /** Instances that ended without being told to. */
  int endedThemselves() {
    return endedThemselves;
  }

  /** Starts new ones, or stops the youngest as an operator does. */
  void scaleTo(int size) {
    while (instances.size() < size) {
      start();
    }
    while (instances.size() > size) {
      stop(instances.remove(instances.size() - 1));
    }
  }

  /** Kills one and starts another in its place. */
  void killOne(RandomGenerator random) {
    instances.remove(random.nextInt(instances.size())).kill();
    start();
  }

  ServiceProcess any(RandomGenerator random) {
    return instances.get(random.nextInt(instances.size()));
  }

  /** Replaces one after the other, each when the last is ready. */
  void roll() {
    for (ServiceProcess old : List.copyOf(instances)) {
      instances.remove(old);
      stop(old);
      start();
      awaitOneReady();
    }
  }

  /** Starts anew what has ended. */
  void mend() {
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
    await("an instance to be ready")
        .atMost(PATIENCE)
        .until(
            () -> {
              mend();
              return instances.stream().anyMatch(ServiceProcess::isReady);
            });
  }

  void awaitAllReady() {
    awaitAllReady(PATIENCE);
  }

  void awaitAllReady(Duration patience) {
    await("all instances to be ready")
        .atMost(patience)
        .until(
            () -> {
              mend();
              return instances.stream().allMatch(ServiceProcess::isReady);
            });
  }

  /** The sum of a metric over all instances; empty if none exports it. */
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
        stage.startProcess(
            stage.name() + "-" + started++, SMALL, "order-timeout.backstop.interval", "5s"));
  }

  private static void stop(ServiceProcess instance) {
    boolean wasAlive = instance.isAlive();
    if (!instance.stop() && wasAlive) {
      throw new IllegalStateException("process " + instance.pid() + " does not stop");
    }
  }

  @Override
  public void close() {
    instances.forEach(ServiceProcess::close);
  }
}
