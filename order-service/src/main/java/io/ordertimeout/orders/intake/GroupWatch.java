package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.intake.GroupDirectory.CoordinatorException;
import io.ordertimeout.orders.intake.GroupDirectory.Group;
import io.ordertimeout.orders.intake.GroupGenerations.Generation;
import io.ordertimeout.orders.intake.GroupMembership.Claim;
import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.platform.loop.PeriodicTasks;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.platform.postgres.CachedRead;
import io.ordertimeout.orders.platform.postgres.ChangeDetector;
import io.ordertimeout.orders.platform.postgres.SchemaMigration;
import io.ordertimeout.orders.shard.Shards;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.kafka.common.utils.Time;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Verifies every few seconds that the group's coordinator works and counts this instance's
 * consumers as the owners of their partitions.
 *
 * <p>A consumer is replaced at once if the wall clock jumps, the group does not know what it claims
 * to own, or the fleet has moved to another generation of the group. If the coordinator does not
 * work although brokers answer, the fleet moves to the next generation. Two owners of a shard in
 * the meantime do no harm, because the deciding statement decides.
 */
@Component
class GroupWatch {

  private static final Logger log = LoggerFactory.getLogger(GroupWatch.class);

  private static final Duration INTERVAL = Duration.ofSeconds(1);

  /** The time between two verifications that find nothing suspicious. */
  private static final Duration VERIFY_INTERVAL = Duration.ofSeconds(5);

  /** How long a coordinator may fail, or a consumer may take to join, before it is reported. */
  private static final Duration REPORT_AFTER = Duration.ofSeconds(10);

  private final Intake intake;
  private final GroupDirectory directory;
  private final GroupGenerations generations;
  private final SchemaMigration schema;
  private final CachedRead storedGeneration;
  private final InputTopics inputTopics;
  private final Shards shards;
  private final StepHealth coordinator;
  private final Duration coordinatorTimeout;
  private final boolean advances;
  private final WallClockMonitor wallClock;
  private final List<MembershipCheck> checks;

  private @Nullable Generation generation;
  private @Nullable Generation latest;
  private @Nullable Long unusableSinceNanos;
  private long verifiedAtNanos;
  private boolean suspicious;

  GroupWatch(
      Intake intake,
      GroupDirectory directory,
      GroupGenerations generations,
      SchemaMigration schema,
      ChangeDetector changes,
      InputTopics inputTopics,
      Shards shards,
      StepHealthRegistry steps,
      PeriodicTasks tasks,
      OrderTimeoutProperties properties) {
    this.intake = intake;
    this.directory = directory;
    this.generations = generations;
    this.schema = schema;
    this.storedGeneration = changes.watch(GroupGenerations.FINGERPRINT);
    this.inputTopics = inputTopics;
    this.shards = shards;
    this.coordinator = steps.step("group-coordinator");
    this.coordinatorTimeout = properties.intake().coordinatorTimeout();
    this.advances = properties.intake().advanceGeneration();
    // The clock that Kafka's clients read.
    this.wallClock = new WallClockMonitor(Time.SYSTEM::milliseconds, System::nanoTime);
    this.checks =
        intake.loops().stream()
            .map(loop -> new MembershipCheck(loop.membership(), System::nanoTime))
            .toList();
    tasks.repeat(
        "group-membership",
        INTERVAL,
        "a lost membership in the consumer group may go unnoticed",
        this::watch);
  }

  private void watch() throws InterruptedException {
    replaceAfterClockJump();
    Generation known = generation;
    if (known != null && isVerificationDue()) {
      verifiedAtNanos = System.nanoTime();
      verify(known);
    }
    if (schema.isMigrated()) {
      storedGeneration.readIfChanged(this::readGeneration);
      follow(Objects.requireNonNull(latest));
    }
  }

  private void replaceAfterClockJump() {
    Duration jump = wallClock.jump();
    if (!jump.isZero()) {
      log.warn(
          "This machine's clock has jumped by {}. Kafka's consumers time their heartbeats by it, so"
              + " they are replaced and rejoin the group",
          jump);
      intake.loops().forEach(loop -> loop.replaceConsumer(ReplacementReason.CLOCK));
    }
  }

  private boolean isVerificationDue() {
    return suspicious || System.nanoTime() - verifiedAtNanos >= VERIFY_INTERVAL.toNanos();
  }

  private boolean readGeneration() {
    latest = generations.current();
    return true;
  }

  private void follow(Generation current) {
    Generation before = generation;
    generation = current;
    if (before != null && !before.equals(current)) {
      log.warn(
          "The fleet has moved from consumer group {} to {}", before.groupId(), current.groupId());
      unusableSinceNanos = null;
    }
    for (IntakeLoop loop : intake.loops()) {
      String groupId = loop.membership().groupId();
      if (groupId != null && !groupId.equals(current.groupId())) {
        loop.replaceConsumer(ReplacementReason.GENERATION);
      }
    }
  }

  private void verify(Generation current) throws InterruptedException {
    suspicious = true;
    List<@Nullable Claim> claims = new ArrayList<>();
    intake.loops().forEach(loop -> claims.add(loop.membership().claim()));
    Group group;
    try {
      group = directory.describe(current.groupId());
    } catch (CoordinatorException e) {
      if (directory.isClusterReachable()) {
        unusable(current, e);
      } else {
        // Without Kafka, nothing is known about the coordinator.
        unusableSinceNanos = null;
      }
      return;
    }
    boolean confirmed = compare(claims, group);
    String failure = failure(group);
    if (failure != null) {
      unusable(current, new CoordinatorException(failure, new TimeoutException(failure)));
      return;
    }
    unusableSinceNanos = null;
    coordinator.succeeded();
    if (confirmed) {
      generations.recordHealthy(current.number());
      suspicious = false;
    }
  }

  /** Compares all consumers with the group; returns whether it has confirmed all of them. */
  private boolean compare(List<@Nullable Claim> claims, Group group) {
    boolean confirmed = true;
    Set<Integer> denied = new HashSet<>();
    for (int i = 0; i < checks.size(); i++) {
      Claim claim = claims.get(i);
      MembershipCheck.Result result = checks.get(i).compare(claim, group);
      confirmed &= result == MembershipCheck.Result.CONFIRMED;
      if (claim == null
          || result == MembershipCheck.Result.UNDECIDED
          || result == MembershipCheck.Result.CONFIRMED) {
        continue;
      }
      denied.addAll(MembershipCheck.denied(claim, group));
      if (result == MembershipCheck.Result.STALE) {
        log.warn(
            "Consumer {} of this instance claims {}, which its group has not assigned to it: {}",
            claim.memberId(),
            claim.assigned(),
            group.hasMember(claim.memberId())
                ? "it is assigned other partitions"
                : "it is no longer a member");
        intake.loops().get(i).replaceConsumer(ReplacementReason.MEMBERSHIP);
      }
    }
    shards.deny(shardsOf(denied));
    return confirmed;
  }

  private Set<Integer> shardsOf(Set<Integer> partitions) {
    InputTopics.Layout layout = inputTopics.layout();
    return layout == null
        ? partitions
        : partitions.stream()
            .flatMap(partition -> layout.shardsOf(partition).stream())
            .collect(Collectors.toSet());
  }

  /** What does not work although the coordinator answers; null if nothing is known to fail. */
  private @Nullable String failure(Group group) {
    for (IntakeLoop loop : intake.loops()) {
      GroupMembership membership = loop.membership();
      if (membership.commitsFailingFor().compareTo(REPORT_AFTER) > 0) {
        return "the coordinator accepts no commits";
      }
      if (membership.joiningFor().compareTo(REPORT_AFTER) > 0 && !group.isRebalancing()) {
        return "the coordinator lets no consumer join";
      }
    }
    return null;
  }

  private void unusable(Generation current, CoordinatorException failure) {
    long now = System.nanoTime();
    Long since = unusableSinceNanos;
    if (since == null) {
      unusableSinceNanos = now;
      return;
    }
    Duration duration = Duration.ofNanos(now - since);
    if (duration.compareTo(REPORT_AFTER) >= 0) {
      coordinator.failed(
          "shards keep their owners but cannot be reassigned; the fleet moves to another group if"
              + " this persists",
          failure);
    }
    if (duration.compareTo(coordinatorTimeout) < 0) {
      return;
    }
    if (generations.hasWorkedWithin(current.number(), coordinatorTimeout)) {
      leave(duration, failure);
    } else if (advances
        && failure.isCoordinatorFailure()
        && generations.advanceIfUnusable(current.number(), coordinatorTimeout)) {
      log.error(
          "The coordinator of consumer group {} has not worked for {} s although brokers answer. The"
              + " fleet moves to group {}",
          current.groupId(),
          duration.toSeconds(),
          generations.generation(current.number() + 1).groupId(),
          failure);
    }
  }

  /** Gives up the shards: the group has expired the session, and other instances serve them. */
  private void leave(Duration duration, CoordinatorException failure) {
    for (IntakeLoop loop : intake.loops()) {
      if (loop.membership().claim() != null) {
        log.warn(
            "For {} s, the coordinator of the consumer group has not worked for this instance, while"
                + " it works for others, so the group has reassigned the shards of this one: {}",
            duration.toSeconds(),
            StepHealth.describe(failure));
        loop.replaceConsumer(ReplacementReason.MEMBERSHIP);
      }
    }
    unusableSinceNanos = null;
  }
}
