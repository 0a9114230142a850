package io.ordertimeout.it.chaos;

import io.ordertimeout.it.support.KafkaCluster;
import io.ordertimeout.it.support.KafkaCluster.Broker;
import io.ordertimeout.it.support.PostgresPair;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.ServiceProcess;
import io.ordertimeout.it.support.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;

/** Injects faults. Each is over when its injection returns; its consequences may not be. */
final class FaultInjector {

  private static final Duration SESSION = Duration.ofSeconds(10);

  /** The rows that were written, and the decisions. */
  private static final String CHANGES = "select count(*) + count(decided_at) from order_deadline";

  private final KafkaCluster kafka;
  private final PostgresPair postgres;
  private final Fleet fleet;
  private final Scenario scenario;
  private final Random random;
  private long lostChanges;

  FaultInjector(FaultInjectedPlatform platform, Fleet fleet, Scenario scenario, Random random) {
    this.kafka = platform.kafka();
    this.postgres = platform.postgres();
    this.fleet = fleet;
    this.scenario = scenario;
    this.random = random;
  }

  /** Returns the number of row changes that failovers have lost. */
  long lostChanges() {
    return lostChanges;
  }

  void inject(Fault fault) throws InterruptedException {
    switch (fault) {
      case INSTANCE_KILLED -> fleet.killOne(random);
      case INSTANCE_FROZEN -> freeze(fleet.any(random));
      case ROLLING_RESTART -> fleet.roll();
      case SCALED_OUT -> fleet.scaleTo(3);
      case SCALED_IN -> fleet.scaleTo(1);
      case BROKER_KILLED -> {
        Broker broker = kafka.any(random);
        broker.kill();
        pause(500, 8_000);
        broker.start();
      }
      case LEADER_KILLED -> {
        TopicPartition partition = anyInput();
        Broker leader = kafka.leader(partition);
        leader.kill();
        kafka.awaitLeaderOtherThan(leader, partition);
        pause(0, 4_000);
        leader.start();
      }
      case BROKER_FROZEN -> {
        Broker broker = kafka.any(random);
        broker.freeze();
        broker.awaitFenced();
        pause(0, 4_000);
        broker.thaw();
      }
      case BROKER_REFUSED -> refuse(List.of(kafka.any(random).proxy()));
      case BROKER_BLACK_HOLE -> blackHole(List.of(kafka.any(random).proxy()));
      case KAFKA_KILLED -> {
        kafka.brokers().forEach(Broker::kill);
        pause(500, 4_000);
        kafka.startAll();
      }
      case KAFKA_CUT -> kafka.proxies().forEach(TcpProxy::cut);
      case KAFKA_REFUSED -> refuse(kafka.proxies());
      case KAFKA_BLACK_HOLE -> blackHole(kafka.proxies());
      case POSTGRES_CRASHED -> {
        postgres.crashPrimary();
        pause(500, 4_000);
        postgres.startPrimary();
      }
      case POSTGRES_FAILED_OVER_WITH_LOSS -> {
        postgres.cutReplication();
        pause(1_000, 4_000);
        lostChanges +=
            scenario.database().count(CHANGES)
                - postgres.countOnStandby(scenario.database(), CHANGES);
        failOver();
      }
      case POSTGRES_FAILED_OVER -> {
        postgres.setSynchronous(true);
        pause(500, 2_000);
        failOver();
      }
      case POSTGRES_CUT -> postgres.clients().cut();
      case POSTGRES_REFUSED -> refuse(List.of(postgres.clients()));
      case POSTGRES_BLACK_HOLE -> blackHole(List.of(postgres.clients()));
    }
  }

  private TopicPartition anyInput() {
    List<String> inputs = scenario.topics().inputs();
    return new TopicPartition(
        inputs.get(random.nextInt(inputs.size())), random.nextInt(Scenario.PARTITIONS));
  }

  private void freeze(ServiceProcess instance) throws InterruptedException {
    instance.freeze();
    pause((int) SESSION.toMillis() + 1_000, (int) SESSION.toMillis() + 5_000);
    instance.thaw();
  }

  private void failOver() throws InterruptedException {
    postgres.crashPrimary();
    pause(0, 3_000);
    postgres.promote();
    postgres.connectClients();
    postgres.addStandby();
  }

  private void refuse(List<TcpProxy> proxies) throws InterruptedException {
    proxies.forEach(TcpProxy::refuse);
    pause(1_000, 6_000);
    proxies.forEach(TcpProxy::restore);
  }

  /** Afterwards the held bytes are delivered, or lost with their connections. */
  private void blackHole(List<TcpProxy> proxies) throws InterruptedException {
    proxies.forEach(TcpProxy::blackHole);
    pause(2_000, 8_000);
    if (random.nextBoolean()) {
      proxies.forEach(TcpProxy::cut);
    }
    proxies.forEach(TcpProxy::restore);
  }

  /** The duration of a fault is part of the script, not a wait for an event. */
  private void pause(int atLeastMillis, int atMostMillis) throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(random.nextInt(atLeastMillis, atMostMillis + 1));
  }
}
