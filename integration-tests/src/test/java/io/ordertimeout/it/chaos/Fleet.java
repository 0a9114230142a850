package io.ordertimeout.it.chaos;

import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Oracle;
import io.ordertimeout.it.support.ChildProcess;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.ServiceProcess;
import io.ordertimeout.it.support.ServiceProcess.Readiness;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;

/** The instances of the service, with an orchestrator that replaces ended ones. */
final class Fleet implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final List<String> JVM_OPTIONS = List.of("-Xmx192m");
  private static final String REPAIRED = "order_timeout_repaired_total";

  /** Orders in the traffic have two to eight seconds to pay. */
  private static final List<String> WARNINGS =
      List.of(
          "order-timeout.deadline.policies[0].name", "all",
          "order-timeout.deadline.policies[0].timeout", "1h",
          "order-timeout.deadline.policies[0].warnings[0]", "4s",
          "order-timeout.deadline.policies[0].warnings[1]", "1s",
          "order-timeout.attempts.hold", Oracle.HOLD.toSeconds() + "s");

  /** Part of the error that the service logs when it repairs a wheel. */
  private static final String REPAIR = "differed from Postgres in ";

  /** An instance; its name is also that of its log and of its Kafka clients. */
  private record Instance(String name, ServiceProcess process) {}

  private final Scenario scenario;
  private final Variant variant;
  private final List<Instance> instances = new ArrayList<>();
  private final List<String> started = new ArrayList<>();
  private int endedThemselves;
  private double repairedByEnded;

  Fleet(Scenario scenario, Variant variant) {
    this.scenario = scenario;
    this.variant = variant;
  }

  /** Returns the name of the instance that has a consumer of that client id. */
  static String instanceOf(String clientId) {
    return clientId.replaceFirst("-intake-\\d+$", "");
  }

  int size() {
    return instances.size();
  }

  /** Returns the number of instances that were started. */
  int started() {
    return started.size();
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
      stop(instances.get(instances.size() - 1));
    }
  }

  /** Kills one instance and starts another in its place. */
  void killOne(RandomGenerator random) {
    Instance victim = instances.get(random.nextInt(instances.size()));
    remove(victim);
    victim.process.kill();
    start();
  }

  ServiceProcess any(RandomGenerator random) {
    return instances.get(random.nextInt(instances.size())).process;
  }

  /** Replaces the instances one by one, each once the previous one is ready. */
  void roll() {
    for (Instance old : List.copyOf(instances)) {
      stop(old);
      start();
      awaitOneReady();
    }
  }

  /** Replaces instances that have ended. */
  void replaceEnded() {
    for (Instance instance : List.copyOf(instances)) {
      if (!instance.process.isAlive()) {
        instances.remove(instance);
        instance.process.close();
        endedThemselves++;
        start();
      }
    }
  }

  private void awaitOneReady() {
    try {
      await("an instance")
          .atMost(PATIENCE)
          .until(
              () -> {
                replaceEnded();
                return readiness().values().stream().anyMatch(Readiness::ready);
              });
    } catch (ConditionTimeoutException e) {
      throw new AssertionError(
          "No instance became ready within " + PATIENCE + ": " + readiness(), e);
    }
  }

  /** Returns what each instance reports, by its name. */
  Map<String, Readiness> readiness() {
    Map<String, Readiness> reports = new LinkedHashMap<>();
    instances.forEach(instance -> reports.put(instance.name, instance.process.readiness()));
    return reports;
  }

  /**
   * Returns how many repairs all instances have counted, as far as they could be asked before they
   * ended.
   */
  double repaired() {
    return repairedByEnded + instances.stream().mapToDouble(Fleet::repaired).sum();
  }

  /** Returns the errors about repairs in the logs of all instances that were ever started. */
  List<String> loggedRepairs() throws IOException {
    List<String> errors = new ArrayList<>();
    for (String name : started) {
      try (Stream<String> lines = Files.lines(ChildProcess.log(name))) {
        lines.filter(line -> line.contains(REPAIR)).forEach(errors::add);
      }
    }
    return errors;
  }

  private static double repaired(Instance instance) {
    try {
      return instance.process.metric(REPAIRED).orElse(0);
    } catch (IOException e) {
      return 0; // Its log tells.
    }
  }

  private void start() {
    String name = scenario.name() + "-" + started.size();
    started.add(name);
    List<String> settings = new ArrayList<>(variant.settings());
    settings.addAll(
        List.of("spring.kafka.client-id", name, "order-timeout.intake.coordinator-timeout", "15s"));
    settings.addAll(WARNINGS);
    instances.add(
        new Instance(
            name, scenario.startProcess(name, JVM_OPTIONS, settings.toArray(String[]::new))));
  }

  private void remove(Instance instance) {
    repairedByEnded += repaired(instance);
    instances.remove(instance);
  }

  private void stop(Instance instance) {
    remove(instance);
    boolean wasAlive = instance.process.isAlive();
    if (!instance.process.stop() && wasAlive) {
      throw new AssertionError(instance.name + " did not stop within its patience");
    }
  }

  @Override
  public void close() {
    instances.forEach(instance -> instance.process.close());
  }
}
