package io.ordertimeout.it.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Oracle;
import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.PostgresPair;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.ServiceProcess;
import io.ordertimeout.it.support.TcpProxy;
import io.ordertimeout.it.traffic.Traffic;
import io.ordertimeout.it.traffic.TrafficProfile;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.awaitility.core.ConditionTimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A run of random faults of instances, Kafka, Postgres and their connections under load. The same
 * seed injects the same faults in the same order.
 */
final class Chaos {

  private static final Logger log = LoggerFactory.getLogger(Chaos.class);
  private static final Duration SESSION = Duration.ofSeconds(10);
  private static final Duration PROGRESS_PATIENCE = Duration.ofSeconds(90);
  private static final Duration QUIET_PATIENCE = Duration.ofMinutes(5);
  private static final int PROGRESS = 50;
  private static final TrafficProfile PROFILE = TrafficProfile.everything();

  /** Once the service has caught up, cancellations may still be late for this long. */
  private static final Duration SETTLING = Duration.ofSeconds(5);

  private static final int UNDISTURBED = 500;

  /** The rows that were written, and the decisions. */
  private static final String CHANGES = "select count(*) + count(decided_at) from order_deadline";

  private final Duration length;
  private final long seed;
  private final int ordersPerSecond;
  private final Random random;
  private final Instant start = Instant.now();
  private final List<String> script = new ArrayList<>();
  private final List<Fault> remaining = new ArrayList<>();
  private final Map<Fault, Integer> injected = new EnumMap<>(Fault.class);
  private long lostChanges;

  Chaos(Duration length, long seed, int ordersPerSecond) {
    this.length = length;
    this.seed = seed;
    this.ordersPerSecond = ordersPerSecond;
    this.random = new Random(seed);
    // The first faults are the failovers, so that the shortest run contains them.
    remaining.add(Fault.POSTGRES_FAILED_OVER_WITH_LOSS);
    remaining.add(Fault.POSTGRES_FAILED_OVER);
    List<Fault> others = new ArrayList<>(List.of(Fault.values()));
    others.removeAll(remaining);
    Collections.shuffle(others, random);
    remaining.addAll(others);
  }

  /** Injects faults for the given time and then checks every promise for every order. */
  void assertPromisesAreKept() throws IOException, InterruptedException {
    try (FaultInjectedPlatform platform = FaultInjectedPlatform.start();
        Scenario scenario = Scenario.on(platform.direct(), platform.proxied());
        Fleet fleet = new Fleet(scenario, () -> restartBroker(platform));
        Oracle oracle = Oracle.observe(scenario)) {
      report("seed " + seed + ", " + length + ", " + ordersPerSecond + " orders a second");
      fleet.scaleTo(2);
      fleet.awaitAllReady();
      oracle.recordForbiddenChanges();
      oracle.allowRestoredDecisions();
      // The instances have just started.
      oracle.disturbed();
      try (Traffic traffic =
          Traffic.start(scenario, oracle.acknowledgements(), PROFILE, seed, ordersPerSecond)) {
        awaitProgress(oracle, platform, fleet);
        Instant end = Instant.now().plus(length);
        while (Instant.now().isBefore(end)) {
          oracle.disturbed();
          inject(next(), platform, fleet, scenario.database());
          pause(2_000, 5_000);
          awaitProgress(oracle, platform, fleet);
          if (remaining.isEmpty()) {
            awaitCalm(oracle);
          }
        }
        report("restored");
        platform.restore();
        fleet.awaitAllReady();
        awaitCalm(oracle);
        traffic.finish();
      }
      Verdict verdict = oracle.judge(QUIET_PATIENCE, PROFILE.bounds());
      report("quiet");
      OptionalDouble repaired = fleet.metric("order_timeout_repaired_total");
      log.info(
          "{}\n{}\n  faults: {}\n  {} row changes lost by failovers;"
              + " {} instances ended on their own; repaired by the reconciler: {}",
          String.join("\n", script),
          verdict,
          injected,
          lostChanges,
          fleet.endedThemselves(),
          repaired);

      assertThat(verdict.brokenPromises()).isEmpty();
      assertThat(repaired.orElse(0)).isZero();
      assertThat(injected)
          .containsKeys(Fault.POSTGRES_FAILED_OVER_WITH_LOSS, Fault.POSTGRES_FAILED_OVER);
      assertThat(lostChanges).as("row changes lost by failovers").isPositive();
    }
  }

  private void restartBroker(FaultInjectedPlatform platform) {
    report("broker restarted");
    platform.killKafka();
    platform.startKafka();
  }

  /** Returns every fault once in random order, then starts over. */
  private Fault next() {
    if (remaining.isEmpty()) {
      remaining.addAll(List.of(Fault.values()));
      Collections.shuffle(remaining, random);
    }
    return remaining.remove(0);
  }

  private void inject(Fault fault, FaultInjectedPlatform platform, Fleet fleet, Database database)
      throws InterruptedException {
    report(fault + ", " + fleet.size() + " instances");
    injected.merge(fault, 1, Integer::sum);
    switch (fault) {
      case INSTANCE_KILLED -> fleet.killOne(random);
      case INSTANCE_FROZEN -> {
        ServiceProcess frozen = fleet.any(random);
        frozen.freeze();
        pause((int) SESSION.toMillis() + 1_000, (int) SESSION.toMillis() + 5_000);
        frozen.thaw();
      }
      case ROLLING_RESTART -> fleet.roll();
      case SCALED_OUT -> fleet.scaleTo(3);
      case SCALED_IN -> fleet.scaleTo(1);
      case KAFKA_KILLED -> {
        platform.killKafka();
        pause(500, 4_000);
        platform.startKafka();
      }
      case POSTGRES_CRASHED -> {
        platform.crashPostgres();
        pause(500, 4_000);
        platform.startPostgres();
      }
      case POSTGRES_FAILED_OVER_WITH_LOSS -> {
        platform.postgres().cutReplication();
        pause(1_000, 4_000);
        lostChanges +=
            database.count(CHANGES) - platform.postgres().countOnStandby(database, CHANGES);
        failOver(platform.postgres());
      }
      case POSTGRES_FAILED_OVER -> {
        platform.postgres().setSynchronous(true);
        pause(500, 2_000);
        failOver(platform.postgres());
      }
      case KAFKA_CUT -> platform.kafkaProxy().cut();
      case POSTGRES_CUT -> platform.postgresProxy().cut();
      case KAFKA_REFUSED -> refuse(platform.kafkaProxy());
      case POSTGRES_REFUSED -> refuse(platform.postgresProxy());
      case KAFKA_BLACK_HOLE -> blackHole(platform.kafkaProxy());
      case POSTGRES_BLACK_HOLE -> blackHole(platform.postgresProxy());
    }
  }

  private void failOver(PostgresPair postgres) throws InterruptedException {
    postgres.crashPrimary();
    pause(0, 3_000);
    postgres.promote();
    postgres.connectClients();
    postgres.addStandby();
  }

  private void refuse(TcpProxy proxy) throws InterruptedException {
    proxy.refuse();
    pause(1_000, 6_000);
    proxy.restore();
  }

  /** Afterwards the held bytes are delivered, or lost with their connections. */
  private void blackHole(TcpProxy proxy) throws InterruptedException {
    proxy.blackHole();
    pause(2_000, 8_000);
    if (random.nextBoolean()) {
      proxy.cut();
    }
    proxy.restore();
  }

  /**
   * Waits for some progress before the next fault. There is none if a killed broker has come back
   * without the group coordinator; the broker is then restarted.
   */
  private void awaitProgress(Oracle oracle, FaultInjectedPlatform platform, Fleet fleet) {
    long before = oracle.cancellations();
    try {
      await("cancellations")
          .atMost(PROGRESS_PATIENCE)
          .until(
              () -> {
                fleet.replaceEnded();
                return oracle.cancellations() - before >= PROGRESS;
              });
    } catch (ConditionTimeoutException e) {
      report("NO PROGRESS for " + PROGRESS_PATIENCE);
      restartBroker(platform);
    }
  }

  /** Waits until enough orders are cancelled that no fault excuses for being late. */
  private void awaitCalm(Oracle oracle) {
    oracle.awaitCaughtUp(QUIET_PATIENCE);
    oracle.restored(SETTLING);
    report("caught up");
    long before = oracle.undisturbedCancellations();
    await("undisturbed cancellations")
        .atMost(PROGRESS_PATIENCE)
        .until(() -> oracle.undisturbedCancellations() - before >= UNDISTURBED);
  }

  /** The duration of a fault is part of the script, not a wait for an event. */
  private void pause(int atLeastMillis, int atMostMillis) throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(random.nextInt(atLeastMillis, atMostMillis + 1));
  }

  private void report(String what) {
    double seconds = Duration.between(start, Instant.now()).toMillis() / 1e3;
    String line = "  %6.1f s  %s".formatted(seconds, what);
    script.add(line);
    log.info(line);
  }
}
