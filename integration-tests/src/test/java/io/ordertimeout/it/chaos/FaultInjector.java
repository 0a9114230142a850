package io.ordertimeout.it.chaos;

import io.ordertimeout.it.oracle.Oracle;
import io.ordertimeout.it.support.CorruptBatch;
import io.ordertimeout.it.support.KafkaCluster;
import io.ordertimeout.it.support.KafkaCluster.Broker;
import io.ordertimeout.it.support.PostgresPair;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.ServiceProcess;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.TcpProxy;
import io.ordertimeout.orders.platform.kafka.DefaultPartitioner;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;

/** Injects faults. Each is over when its injection returns; its consequences may not be. */
final class FaultInjector {

  private static final Duration SESSION = Duration.ofSeconds(10);

  /** Longer than it takes to publish the payment of an order. */
  private static final Duration TIME_TO_PAY = Duration.ofSeconds(5);

  /** The rows that were written, and the decisions. */
  private static final String CHANGES = "select count(*) + count(decided_at) from order_deadline";

  private final KafkaCluster kafka;
  private final PostgresPair postgres;
  private final Fleet fleet;
  private final Scenario scenario;
  private final Recovery recovery;
  private final Oracle oracle;
  private final Random random;
  private long lostChanges;
  private int corrupted;

  FaultInjector(
      FaultInjectedPlatform platform,
      Fleet fleet,
      Scenario scenario,
      Recovery recovery,
      Oracle oracle,
      Random random) {
    this.kafka = platform.kafka();
    this.postgres = platform.postgres();
    this.fleet = fleet;
    this.scenario = scenario;
    this.recovery = recovery;
    this.oracle = oracle;
    this.random = random;
  }

  /** Returns the number of row changes that failovers and restored dumps have lost. */
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
        countLostChanges();
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
      case DUMP_RESTORED -> restoreDump();
      case OUTPUT_PARTITION_MISSING_DURING_FAILOVER ->
          failOverWithout(anyPartition(scenario.topics().outputs()));
      case SEGMENT_CORRUPTED -> corrupt(anyInput());
    }
  }

  private TopicPartition anyInput() {
    return anyPartition(scenario.topics().inputs());
  }

  private TopicPartition anyPartition(List<String> topics) {
    return new TopicPartition(
        topics.get(random.nextInt(topics.size())), random.nextInt(Scenario.PARTITIONS));
  }

  private void restoreDump() throws InterruptedException {
    String dump = scenario.name() + "_dump";
    postgres.dump(scenario.database(), dump);
    long dumped = postgres.countInDump(dump, CHANGES);
    // Decisions are published that the dump does not contain.
    recovery.awaitProgress();
    pause(0, 4_000);
    lostChanges += scenario.database().count(CHANGES) - dumped;
    postgres.restoreDump(scenario.database(), dump);
  }

  /** The partition is missing when the new server answers, and the other shards have to go on. */
  private void failOverWithout(TopicPartition output) throws InterruptedException {
    List<Broker> replicas = kafka.replicas(output);
    Broker only = kafka.any(random);
    postgres.cutReplication();
    pause(1_000, 4_000);
    kafka.move(output, List.of(only));
    only.kill();
    kafka.awaitNoLeader(output);
    countLostChanges();
    failOver();
    recovery.awaitProgressWithout(output.partition());
    only.start();
    kafka.electOnlyReplica(output);
    kafka.move(output, replicas);
  }

  private void countLostChanges() {
    lostChanges +=
        scenario.database().count(CHANGES) - postgres.countOnStandby(scenario.database(), CHANGES);
  }

  /**
   * Corrupts the batch of a single event before anybody can read it, because its transaction is
   * open. If the event were skipped, its order would be decided wrongly.
   */
  private void corrupt(TopicPartition input) throws InterruptedException {
    oracle.disturbed(input.partition());
    corrupted++;
    String orderId = orderOfShard("corrupt-" + corrupted + "-", input.partition());
    Instant now = Scenario.in(Duration.ZERO);
    Map<String, String> created =
        Map.of(
            "createdAt", now.toString(),
            "payBy", now.plus(TIME_TO_PAY).toString());
    String topic = input.topic();
    boolean creation = topic.equals(scenario.topics().created());
    if (!creation) {
      acknowledge(Shop.await(scenario.shop().send(scenario.topics().created(), orderId, created)));
    }
    try (Shop shop = scenario.transactionalShop(scenario.name() + "-corrupt")) {
      shop.transactions().beginTransaction();
      RecordMetadata sent =
          Shop.await(shop.send(topic, orderId, creation ? created : settling(topic, now)));
      CorruptBatch batch = CorruptBatch.at(kafka.leader(input).directory(), input, sent.offset());
      shop.transactions().commitTransaction();
      acknowledge(sent);
      pause(8_000, 16_000);
      batch.restore();
    }
  }

  /**
   * Returns an event of the topic that keeps an order, created at that time, from being cancelled.
   */
  private Map<String, String> settling(String topic, Instant now) {
    String later = now.plus(TIME_TO_PAY.multipliedBy(3)).toString();
    if (topic.equals(scenario.topics().attempts())) {
      return Map.of("attemptId", "a1", "status", "STARTED", "until", later);
    }
    if (topic.equals(scenario.topics().changed())) {
      return Map.of("changedAt", now.toString(), "payBy", later);
    }
    return Map.of("paymentId", "p1");
  }

  private void acknowledge(RecordMetadata event) {
    oracle.acknowledgements().add(event);
    oracle.acknowledgements().commit(event);
  }

  /** Returns the id of an order that belongs to the shard. */
  private static String orderOfShard(String prefix, int shard) {
    return IntStream.iterate(0, i -> i + 1)
        .mapToObj(i -> prefix + i)
        .filter(orderId -> DefaultPartitioner.partition(orderId, Scenario.PARTITIONS) == shard)
        .findFirst()
        .orElseThrow();
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
