package io.ordertimeout.it.chaos;

import io.ordertimeout.it.support.Scenario;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.common.TopicPartition;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Waits between faults until the service works again, without helping it, and fails if it does not.
 */
final class Recovery {

  /**
   * Longer than what may follow each other: the start of an instance on a busy machine, and the
   * time-outs of a dead member's session, a failing coordinator and an abandoned transaction.
   */
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private static final Duration POLL_INTERVAL = Duration.ofMillis(500);

  /** Cancellations of each shard that count as progress. */
  private static final int PROGRESS = 10;

  /**
   * Orders that nothing keeps from being decided; a parked one waits for an operator, and one that
   * is being paid for the end of that.
   */
  private static final String OVERDUE =
      """
      select count(*) from order_deadline
      where state = 'PENDING' and deadline < clock_timestamp() - interval '5 s'
        and not exists (
          select from parked_order p where p.order_id = order_deadline.order_id)
        and not exists (
          select from payment_attempt a where a.order_id = order_deadline.order_id
            and least(a.until, a.ended_at) > clock_timestamp() - interval '5 s')
      """;

  private final Scenario scenario;
  private final Fleet fleet;
  private final ReadinessCheck readiness;
  private final List<TopicPartition> cancellations;
  private Duration longestWait = Duration.ZERO;
  private int progressed;
  private int calm;

  /** A condition that may not be checkable while Kafka or Postgres recover. */
  @FunctionalInterface
  private interface Condition {
    boolean isMet(boolean allReady);
  }

  Recovery(Scenario scenario, Fleet fleet) {
    this.scenario = scenario;
    this.fleet = fleet;
    this.readiness = new ReadinessCheck(scenario, fleet);
    this.cancellations =
        IntStream.range(0, Scenario.PARTITIONS)
            .mapToObj(shard -> new TopicPartition(scenario.topics().cancelled(), shard))
            .toList();
  }

  /** Waits until every shard has published further cancellations. */
  void awaitProgress() {
    awaitProgress(cancellations);
  }

  /** Waits until every other shard has published further cancellations. */
  void awaitProgressWithout(int shard) {
    awaitProgress(cancellations.stream().filter(each -> each.partition() != shard).toList());
  }

  private void awaitProgress(List<TopicPartition> partitions) {
    Map<TopicPartition, Long> before = new HashMap<>();
    Map<TopicPartition, Long> now = new HashMap<>();
    try {
      await(
          allReady -> {
            now.putAll(scenario.kafka().ends(partitions));
            now.forEach(before::putIfAbsent);
            return before.entrySet().stream()
                .allMatch(
                    shard -> now.getOrDefault(shard.getKey(), 0L) >= shard.getValue() + PROGRESS);
          });
    } catch (ConditionTimeoutException e) {
      throw stuck("Not every shard has made progress: from " + before + " to " + now, e);
    }
    progressed++;
  }

  /** Waits until all instances are ready and all due orders are decided. */
  void awaitCalm() {
    try {
      await(allReady -> allReady && overdue() == 0);
    } catch (ConditionTimeoutException e) {
      throw stuck("The service has not recovered, with " + overdue() + " overdue orders", e);
    }
    calm++;
  }

  /** Returns how often every shard has made progress. */
  int progressed() {
    return progressed;
  }

  /** Returns how often all instances were ready with all due orders decided. */
  int calm() {
    return calm;
  }

  private long overdue() {
    return scenario.database().count(OVERDUE);
  }

  private void await(Condition condition) {
    readiness.begin();
    long start = System.nanoTime();
    Awaitility.await("recovery")
        .atMost(PATIENCE)
        .pollInterval(POLL_INTERVAL)
        .pollDelay(Duration.ZERO)
        .ignoreExceptionsMatching(e -> e instanceof RuntimeException)
        .until(
            () -> {
              fleet.replaceEnded();
              return condition.isMet(readiness.sample());
            });
    Duration wait = Duration.ofNanos(System.nanoTime() - start);
    longestWait = longestWait.compareTo(wait) < 0 ? wait : longestWait;
  }

  private AssertionError stuck(String what, ConditionTimeoutException cause) {
    return new AssertionError(
        "%s within %d s. The instances, whose logs have the same names, report: %s"
            .formatted(what, PATIENCE.toSeconds(), fleet.readiness()),
        cause);
  }

  @Override
  public String toString() {
    return "%d times progress of every shard, %d times calm, after %.1f s at most\n  %s"
        .formatted(progressed, calm, longestWait.toMillis() / 1e3, readiness);
  }
}
