package io.ordertimeout.it.chaos;

import io.ordertimeout.it.support.KafkaCluster;
import io.ordertimeout.it.support.PostgresPair;
import io.ordertimeout.it.support.TcpProxy;
import io.ordertimeout.it.support.TestEnvironment;

/**
 * A Kafka of three brokers and a Postgres with a standby for fault injection: processes that can be
 * killed and restarted on their data, each behind a proxy. The services connect through the
 * proxies, the test directly.
 */
final class FaultInjectedPlatform implements AutoCloseable {

  private final KafkaCluster kafka;
  private final PostgresPair postgres;

  private FaultInjectedPlatform(KafkaCluster kafka) {
    this.kafka = kafka;
    this.postgres = PostgresPair.startDurable();
  }

  static FaultInjectedPlatform start() {
    KafkaCluster kafka = KafkaCluster.start();
    try {
      return new FaultInjectedPlatform(kafka);
    } catch (RuntimeException e) {
      kafka.close();
      throw e;
    }
  }

  /** The addresses that the test uses. */
  TestEnvironment direct() {
    return postgres.direct(kafka.bootstrapServers());
  }

  /** The addresses of the proxies, which the services use. */
  TestEnvironment proxied() {
    return postgres.proxied(kafka.proxiedBootstrapServers());
  }

  KafkaCluster kafka() {
    return kafka;
  }

  PostgresPair postgres() {
    return postgres;
  }

  /** Restarts everything that is down and restores all connections. */
  void restore() {
    kafka.startAll();
    postgres.startPrimary();
    kafka.proxies().forEach(TcpProxy::restore);
    postgres.clients().restore();
  }

  @Override
  public void close() {
    try (kafka) {
      postgres.close();
    }
  }
}
