package io.ordertimeout.it.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Oracle;
import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.traffic.OldTraffic;
import io.ordertimeout.it.traffic.Traffic;
import io.ordertimeout.it.traffic.TrafficProfile;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * A run of random faults of instances, Kafka, Postgres and their connections under load, by a fleet
 * that starts for the first time on topics with old orders. The same seed injects the same faults
 * in the same order into the same variant of the service.
 */
final class Chaos {

  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private static final TrafficProfile PROFILE = TrafficProfile.withAllTopics();

  /** Once the service has caught up, cancellations may still be late for this long. */
  private static final Duration SETTLING = Duration.ofSeconds(5);

  /**
   * Three brokers, two servers of Postgres and the instances share one machine, which delays
   * cancellations by seconds at times. An order that the wheel has lost is one of {@link
   * Fleet#repaired()}, however fast it is found.
   */
  private static final Duration ALLOWED_LATENESS = Duration.ofSeconds(15);

  /** Cancellations of a calm that have to be in time. */
  private static final int UNDISTURBED = 300;

  /** One of so many faults is followed by calm; the others meet what is left of the last one. */
  private static final int FAULTS_PER_CALM = 3;

  private final Duration length;
  private final Collection<Fault> required;
  private final long seed;
  private final int ordersPerSecond;
  private final Variant variant;
  private final Random random;
  private final FaultScript script;
  private final Ledger ledger = new Ledger();

  /**
   * @param length how long faults are injected at least
   * @param faults the faults from which the run draws
   * @param required those of them that it contains, however long that takes
   */
  Chaos(
      Duration length,
      List<Fault> faults,
      Collection<Fault> required,
      long seed,
      int ordersPerSecond) {
    this.length = length;
    this.required = required;
    this.seed = seed;
    this.ordersPerSecond = ordersPerSecond;
    this.variant = Variant.of(seed);
    this.random = new Random(seed);
    this.script = new FaultScript(random, faults);
  }

  /** Injects faults for the given time and then checks every promise for every order. */
  void assertPromisesAreKept() throws IOException, InterruptedException {
    ledger.event(
        "seed %d, %s, %d orders a second; %s".formatted(seed, length, ordersPerSecond, variant));
    try (FaultInjectedPlatform platform = FaultInjectedPlatform.start();
        Scenario scenario = Scenario.withAllTopicsOn(platform.direct(), platform.proxied());
        Fleet fleet = new Fleet(scenario, variant);
        Oracle oracle = Oracle.observe(scenario)) {
      Recovery recovery = new Recovery(scenario, fleet);
      FaultInjector injector =
          new FaultInjector(platform, fleet, scenario, recovery, oracle, random);
      try {
        run(scenario, fleet, oracle, injector, recovery, platform::restore);
        Verdict verdict = oracle.judge(PATIENCE, PROFILE.bounds());
        ledger.event("quiet");
        ledger.verdict(verdict, scenario.groupGeneration());

        assertThat(verdict.brokenPromises()).isEmpty();
      } finally {
        ledger.print(script, recovery, injector, fleet);
      }
      assertThat(fleet.repaired()).as("repairs by the reconciler").isZero();
      assertThat(fleet.loggedRepairs()).as("logged repairs").isEmpty();
      assertThat(script.drawn()).containsKeys(required.toArray(Fault[]::new));
      assertThat(recovery.progressed()).as("waits for progress").isGreaterThan(script.count());
      assertThat(injector.lostChanges()).as("lost row changes").isPositive();
    }
  }

  private void run(
      Scenario scenario,
      Fleet fleet,
      Oracle oracle,
      FaultInjector injector,
      Recovery recovery,
      Runnable restore)
      throws InterruptedException {
    oracle.recordForbiddenChanges();
    oracle.allowRestoredDecisions();
    oracle.allowLateness(ALLOWED_LATENESS);
    oracle.expectStale(OldTraffic.STALE_AFTER);
    oracle.startedForTheFirstTime();
    ledger.event(OldTraffic.send(scenario, oracle.acknowledgements(), seed));
    variant.configure(scenario);
    fleet.scaleTo(2);
    recovery.awaitCalm();
    try (Traffic traffic =
        Traffic.start(scenario, oracle.acknowledgements(), PROFILE, seed, ordersPerSecond)) {
      recovery.awaitProgress();
      Instant end = Instant.now().plus(length);
      while (Instant.now().isBefore(end) || !script.hasDrawn(required)) {
        Fault fault = script.next();
        int instances = fleet.size();
        oracle.disturbed();
        if (fault.disturbsOneShard()) {
          // The shards share an instance, and nothing excuses the others once it is calm.
          fleet.scaleTo(1);
          awaitCalm(oracle, recovery);
        }
        ledger.event(fault + ", " + fleet.size() + " instances");
        injector.inject(fault);
        // Part of the script: the fault's consequences unfold.
        TimeUnit.MILLISECONDS.sleep(random.nextInt(2_000, 5_001));
        recovery.awaitProgress();
        if (fault.disturbsOneShard()) {
          oracle.disturbed();
          fleet.scaleTo(instances);
        }
        if (random.nextInt(FAULTS_PER_CALM) == 0) {
          awaitCalm(oracle, recovery);
        }
      }
      ledger.event("restored");
      restore.run();
      awaitCalm(oracle, recovery);
      traffic.finish();
    }
  }

  /** Waits until no fault excuses a late cancellation any more, and for some that are in time. */
  private void awaitCalm(Oracle oracle, Recovery recovery) {
    recovery.awaitCalm();
    oracle.awaitCaughtUp(PATIENCE);
    oracle.restored(SETTLING);
    ledger.event("calm");
    long before = oracle.undisturbedCancellations();
    await("undisturbed cancellations")
        .atMost(PATIENCE)
        .until(() -> oracle.undisturbedCancellations() - before >= UNDISTURBED);
  }
}
