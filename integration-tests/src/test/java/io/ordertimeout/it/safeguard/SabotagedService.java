package io.ordertimeout.it.safeguard;

import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Oracle;
import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * A running service whose safeguards the tests of a class remove and restore one by one. The tests
 * share its topics and tables; each uses order ids with a prefix of its own.
 */
final class SabotagedService implements AutoCloseable {

  static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Scenario scenario;
  private final Oracle oracle;
  private final SafeguardRemover safeguards;
  private final List<BeanPostProcessor> interceptors;
  private Service service;

  private SabotagedService(
      Scenario scenario, List<BeanPostProcessor> outerInterceptors, String... settings) {
    this.scenario = scenario;
    this.oracle = Oracle.observe(scenario);
    this.safeguards = new SafeguardRemover(scenario.database(), scenario.topics().closed());
    this.interceptors = new ArrayList<>(safeguards.interceptors());
    this.interceptors.addAll(outerInterceptors);
    this.interceptors.addAll(safeguards.outermostInterceptors());
    this.service = scenario.startService(interceptors, settings);
    service.awaitReady(true);
    oracle.recordForbiddenChanges();
    // What is sabotaged may be late.
    oracle.disturbed();
  }

  /**
   * Starts the service and returns when it is ready.
   *
   * @param outerInterceptors interceptors around those that remove safeguards
   */
  static SabotagedService start(
      Scenario scenario, List<BeanPostProcessor> outerInterceptors, String... settings) {
    return new SabotagedService(scenario, outerInterceptors, settings);
  }

  Service service() {
    return service;
  }

  Oracle oracle() {
    return oracle;
  }

  SafeguardRemover safeguards() {
    return safeguards;
  }

  /** Stops the service; {@link #startSuccessor} starts the next one. */
  void stop() {
    service.close();
  }

  void startSuccessor() {
    service = scenario.startService(interceptors);
  }

  /** Creates the orders {@code <prefix>0}, {@code <prefix>1} and so on in partition 0. */
  void create(String prefix, int orders, Instant deadline) {
    create(prefix, 0, orders, deadline);
  }

  /** Creates these orders in the partition. */
  void create(String prefix, int partition, int orders, Instant deadline) {
    for (int i = 0; i < orders; i++) {
      scenario.create(prefix + i, partition, deadline);
    }
  }

  /** Pays these orders in partition 0; returns when Kafka has acknowledged the payments. */
  void pay(String prefix, int orders) {
    pay(prefix, 0, orders);
  }

  /** Pays these orders in the partition. */
  void pay(String prefix, int partition, int orders) {
    settle(orders, i -> scenario.pay(prefix + i, partition));
  }

  /** Closes these orders in the partition. */
  void closeOrders(String prefix, int partition, int orders) {
    settle(orders, i -> scenario.closeOrder(prefix + i, partition));
  }

  private void settle(int orders, IntFunction<RecordMetadata> event) {
    IntStream.range(0, orders)
        .mapToObj(event)
        .forEach(
            metadata -> {
              oracle.acknowledgements().add(metadata);
              oracle.acknowledgements().commit(metadata);
            });
  }

  /** Waits until that many orders with the prefix are in the state. */
  void awaitStates(String prefix, String state, int orders) {
    await(prefix + " " + state).until(() -> count(prefix, state) == orders);
  }

  /** Returns the number of orders with the prefix that are in the state. */
  long count(String prefix, String state) {
    return scenario
        .database()
        .count(
            "select count(*) from order_deadline where starts_with(order_id, ?) and state = ?",
            prefix,
            state);
  }

  /** Judges the orders with the prefix. */
  Verdict judge(String prefix) {
    return oracle.judge(PATIENCE, prefix);
  }

  @Override
  public void close() {
    service.close();
    oracle.close();
    scenario.close();
  }
}
