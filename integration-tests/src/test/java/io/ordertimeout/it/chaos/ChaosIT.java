package io.ordertimeout.it.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Ledger;
import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.ServiceProcess;
import io.ordertimeout.it.support.TcpProxy;
import io.ordertimeout.it.traffic.Mix;
import io.ordertimeout.it.traffic.Traffic;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Orders come and go while instances, Kafka, Postgres and the ways between them fail at random. The
 * system properties {@code chaos.minutes}, {@code chaos.seed} and {@code chaos.rate} say for how
 * long, in which order and under how many orders a second.
 */
class ChaosIT {

  private static final Logger log = LoggerFactory.getLogger(ChaosIT.class);
  private static final Duration SESSION = Duration.ofSeconds(10);
  private static final Duration PROGRESS_PATIENCE = Duration.ofSeconds(90);
  private static final Duration QUIET_PATIENCE = Duration.ofMinutes(5);
  private static final int PROGRESS = 50;

  private final double minutes = Double.parseDouble(System.getProperty("chaos.minutes", "1.5"));
  private final long seed = Long.getLong("chaos.seed", 1);
  private final int rate = Integer.getInteger("chaos.rate", 500);
  private final Random random = new Random(seed);
  private final Instant start = Instant.now();
  private final List<String> script = new ArrayList<>();
  private final List<Disaster> bag = new ArrayList<>();

  @Test
  void everyPromiseIsKeptWhateverFails() throws IOException, InterruptedException {
    try (FragilePlatform platform = FragilePlatform.start();
        Scenario scenario = Scenario.on(platform.direct(), platform.proxied());
        Fleet fleet = new Fleet(scenario, () -> restartBroker(platform));
        Ledger ledger = Ledger.open(scenario)) {
      say("seed " + seed + ", " + minutes + " minutes, " + rate + " orders a second");
      fleet.scaleTo(2);
      fleet.awaitAllReady();
      ledger.watchChanges();
      try (Traffic traffic = ledger.traffic(Mix.everything(), seed, rate)) {
        awaitProgress(ledger, platform, fleet);
        Instant end = Instant.now().plusMillis((long) (minutes * 60_000));
        while (Instant.now().isBefore(end)) {
          happen(next(), platform, fleet);
          pause(2_000, 5_000);
          awaitProgress(ledger, platform, fleet);
        }
        say("restored");
        platform.restore();
        fleet.awaitAllReady();
        traffic.finish();
      }
      Verdict verdict = ledger.judge(QUIET_PATIENCE);
      say("quiet");
      OptionalDouble repaired = fleet.metric("order_timeout_repaired_total");
      log.info(
          "{}\n{}\n  {} instances ended by themselves; repaired by the backstop: {}",
          String.join("\n", script),
          verdict,
          fleet.endedThemselves(),
          repaired);

      assertThat(verdict.broken()).isEmpty();
      assertThat(repaired.orElse(0)).isZero();
    }
  }

  private void restartBroker(FragilePlatform platform) {
    say("the broker is started once more");
    platform.killKafka();
    platform.startKafka();
  }

  /** Every kind once, in random order, then again. */
  private Disaster next() {
    if (bag.isEmpty()) {
      bag.addAll(List.of(Disaster.values()));
      Collections.shuffle(bag, random);
    }
    return bag.remove(0);
  }

  private void happen(Disaster disaster, FragilePlatform platform, Fleet fleet)
      throws InterruptedException {
    say(disaster + ", " + fleet.size() + " instances");
    switch (disaster) {
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
      case KAFKA_CUT -> platform.kafkaProxy().cut();
      case POSTGRES_CUT -> platform.postgresProxy().cut();
      case KAFKA_REFUSED -> refuse(platform.kafkaProxy());
      case POSTGRES_REFUSED -> refuse(platform.postgresProxy());
      case KAFKA_BLACK_HOLE -> blackHole(platform.kafkaProxy());
      case POSTGRES_BLACK_HOLE -> blackHole(platform.postgresProxy());
    }
  }

  private void refuse(TcpProxy proxy) throws InterruptedException {
    proxy.refuse();
    pause(1_000, 6_000);
    proxy.restore();
  }

  /** What was in the hole comes out of it, or is lost with its connection. */
  private void blackHole(TcpProxy proxy) throws InterruptedException {
    proxy.blackHole();
    pause(2_000, 8_000);
    if (random.nextBoolean()) {
      proxy.cut();
    }
    proxy.restore();
  }

  /**
   * Lets the service do some work before the next thing happens to it. It cannot if a broker that
   * was killed has come back without the coordinator of the group.
   */
  private void awaitProgress(Ledger ledger, FragilePlatform platform, Fleet fleet) {
    long before = ledger.cancellations();
    try {
      await("cancellations")
          .atMost(PROGRESS_PATIENCE)
          .until(
              () -> {
                fleet.mend();
                return ledger.cancellations() - before >= PROGRESS;
              });
    } catch (ConditionTimeoutException e) {
      say("NO PROGRESS for " + PROGRESS_PATIENCE);
      restartBroker(platform);
    }
  }

  /** How long things last is part of the script, not a wait for anything. */
  private void pause(int atLeastMillis, int atMostMillis) throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(random.nextInt(atLeastMillis, atMostMillis + 1));
  }

  private void say(String what) {
    double seconds = Duration.between(start, Instant.now()).toMillis() / 1e3;
    String line = "  %6.1f s  %s".formatted(seconds, what);
    script.add(line);
    log.info(line);
  }
}
