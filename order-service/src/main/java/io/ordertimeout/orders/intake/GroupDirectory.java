package io.ordertimeout.orders.intake;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.DescribeConsumerGroupsOptions;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Asks Kafka which members a consumer group has, and what they are assigned. Thread-safe. */
@Component
class GroupDirectory {

  /** What the coordinator knows about a group. */
  record Group(Map<String, Set<TopicPartition>> assignments, boolean isRebalancing) {

    /** Whether the group has that member. */
    boolean hasMember(String memberId) {
      return assignments.containsKey(memberId);
    }
  }

  /** The coordinator of the group did not answer, or reported that it does not work. */
  static final class CoordinatorException extends Exception {

    private static final long serialVersionUID = 1L;

    CoordinatorException(String message, @Nullable Throwable cause) {
      super(message, cause);
    }

    /** Whether a different coordinator may help: it would not if access is denied, for example. */
    boolean isCoordinatorFailure() {
      return getCause() instanceof TimeoutException || GroupMembership.isCoordinatorFailure(this);
    }
  }

  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  private final Admin admin;

  GroupDirectory(Admin admin) {
    this.admin = admin;
  }

  /**
   * Describes the group.
   *
   * @throws CoordinatorException if its coordinator does not work
   */
  Group describe(String groupId) throws CoordinatorException, InterruptedException {
    DescribeConsumerGroupsOptions options =
        new DescribeConsumerGroupsOptions().timeoutMs((int) TIMEOUT.toMillis());
    try {
      ConsumerGroupDescription group =
          await(
              Objects.requireNonNull(
                  admin
                      .describeConsumerGroups(List.of(groupId), options)
                      .describedGroups()
                      .get(groupId)));
      return new Group(
          group.members().stream()
              .collect(
                  Collectors.toMap(
                      member -> member.consumerId(),
                      member -> member.assignment().topicPartitions())),
          // The classic protocol reports no assignments during a rebalance.
          group.type() == GroupType.CLASSIC && group.groupState() != GroupState.STABLE);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof GroupIdNotFoundException) {
        return new Group(Map.of(), false);
      }
      throw new CoordinatorException("could not describe group " + groupId, e.getCause());
    } catch (TimeoutException e) {
      throw new CoordinatorException("could not describe group " + groupId, e);
    }
  }

  /** Whether the brokers answer at all. */
  boolean isClusterReachable() throws InterruptedException {
    try {
      await(
          admin
              .describeCluster(new DescribeClusterOptions().timeoutMs((int) TIMEOUT.toMillis()))
              .nodes());
      return true;
    } catch (ExecutionException | TimeoutException e) {
      return false;
    }
  }

  // The client's own time-out follows the wall clock, so it may not end while that is set back.
  private static <T> T await(KafkaFuture<T> answer)
      throws InterruptedException, ExecutionException, TimeoutException {
    return answer.get(TIMEOUT.toMillis() + 1_000, TimeUnit.MILLISECONDS);
  }
}
