package io.ordertimeout.it.chaos;

import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.ServiceProcess.Readiness;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Compares the shards that ready instances report with those that the group has assigned to them,
 * and with all that there are.
 */
final class ReadinessCheck {

  /** How long all instances may be ready while a report is wrong or a shard is served by none. */
  private static final Duration TOLERANCE = Duration.ofSeconds(15);

  private static final long ANSWER_SECONDS = 5;

  private final Scenario scenario;
  private final Fleet fleet;
  private final Set<Integer> allShards =
      IntStream.range(0, Scenario.PARTITIONS)
          .boxed()
          .collect(Collectors.toCollection(TreeSet::new));
  private @Nullable Long wrongSinceNanos;
  private Duration longestWrong = Duration.ZERO;
  private int samples;
  private int readySamples;

  ReadinessCheck(Scenario scenario, Fleet fleet) {
    this.scenario = scenario;
    this.fleet = fleet;
  }

  /** Begins again after a time without samples, in which anything may have happened. */
  void begin() {
    wrongSinceNanos = null;
  }

  /**
   * Takes a sample.
   *
   * @return whether all instances are ready and report what the group has assigned to them
   * @throws AssertionError if they have been ready and wrong for too long
   */
  boolean sample() throws InterruptedException {
    samples++;
    Map<String, Readiness> reports = fleet.readiness();
    if (!reports.values().stream().allMatch(Readiness::ready)) {
      wrongSinceNanos = null;
      return false;
    }
    readySamples++;
    String error = error(reports);
    if (error == null) {
      wrongSinceNanos = null;
      return true;
    }
    long now = System.nanoTime();
    if (wrongSinceNanos == null) {
      wrongSinceNanos = now;
    }
    Duration wrong = Duration.ofNanos(now - wrongSinceNanos);
    longestWrong = longestWrong.compareTo(wrong) < 0 ? wrong : longestWrong;
    if (wrong.compareTo(TOLERANCE) > 0) {
      throw new AssertionError(
          "All instances have been ready for " + TOLERANCE.toSeconds() + " s, but " + error);
    }
    return false;
  }

  private @Nullable String error(Map<String, Readiness> reports) throws InterruptedException {
    Set<Integer> served = new TreeSet<>();
    reports.values().forEach(report -> served.addAll(report.shards()));
    if (!served.equals(allShards)) {
      return "they serve only " + served + " of the shards " + allShards;
    }
    Map<String, Set<Integer>> assigned = assigned();
    if (assigned == null) {
      return null; // The coordinator moves; the service has to notice if that lasts.
    }
    Map<String, Set<Integer>> reported = new TreeMap<>();
    reports.forEach((name, report) -> reported.put(name, report.shards()));
    return reported.equals(assigned)
        ? null
        : "they report the shards " + reported + ", while the group has assigned " + assigned;
  }

  /** The shards that the group has assigned to each instance; null if its coordinator is away. */
  private @Nullable Map<String, Set<Integer>> assigned() throws InterruptedException {
    String groupId = scenario.groupId();
    ConsumerGroupDescription group;
    try {
      group =
          Objects.requireNonNull(
                  scenario
                      .kafka()
                      .client()
                      .describeConsumerGroups(List.of(groupId))
                      .describedGroups()
                      .get(groupId))
              .get(ANSWER_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      return null;
    }
    Map<String, Set<Integer>> assigned = new TreeMap<>();
    for (MemberDescription member : group.members()) {
      assigned
          .computeIfAbsent(Fleet.instanceOf(member.clientId()), name -> new TreeSet<>())
          .addAll(
              member.assignment().topicPartitions().stream()
                  .map(TopicPartition::partition)
                  .toList());
    }
    return assigned;
  }

  @Override
  public String toString() {
    return "%d samples of the instances' readiness, %d of them with all ready; wrong for %.1f s at most"
        .formatted(samples, readySamples, longestWrong.toMillis() / 1e3);
  }
}
