package io.ordertimeout.orders.intake;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.RetriableCommitFailedException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.CoordinatorNotAvailableException;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.UnknownServerException;
import org.junit.jupiter.api.Test;

class GroupMembershipTest {

  private final AtomicLong nanos = new AtomicLong();
  private final GroupMembership membership = new GroupMembership(nanos::get);

  @Test
  void timeToJoinAddsUpOverConsumersThatTheCoordinatorFails() {
    membership.opened("group");
    pass(Duration.ofSeconds(20));
    membership.closed();
    membership.ended(new KafkaException("join failed", new UnknownServerException()));
    membership.opened("group");
    pass(Duration.ofSeconds(20));

    assertThat(membership.joiningFor()).isEqualTo(Duration.ofSeconds(40));

    membership.polled("me", Set.of());
    assertThat(membership.joiningFor()).isZero();
  }

  @Test
  void timeLostToOtherErrorsDoesNotCount() {
    membership.opened("group");
    pass(Duration.ofSeconds(20));
    membership.closed();
    membership.ended(new GroupAuthorizationException("group"));
    pass(Duration.ofSeconds(20));
    membership.opened("group");

    assertThat(membership.joiningFor()).isZero();
  }

  @Test
  void anotherGroupHasItsOwnTime() {
    membership.opened("group");
    pass(Duration.ofSeconds(20));
    membership.opened("group.g2");
    pass(Duration.ofSeconds(1));

    assertThat(membership.joiningFor()).isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void commitsFailUntilOneSucceeds() {
    membership.committed(
        new RetriableCommitFailedException(new CoordinatorNotAvailableException("")));
    pass(Duration.ofSeconds(5));
    membership.committed(
        new RetriableCommitFailedException(new CoordinatorNotAvailableException("")));
    assertThat(membership.commitsFailingFor()).isEqualTo(Duration.ofSeconds(5));

    membership.committed(null);
    assertThat(membership.commitsFailingFor()).isZero();
  }

  @Test
  void aRefusedMemberIsNoFaultOfTheCoordinator() {
    membership.committed(new CommitFailedException("unknown member"));
    pass(Duration.ofSeconds(5));

    assertThat(membership.commitsFailingFor()).isZero();
  }

  private void pass(Duration duration) {
    nanos.addAndGet(duration.toNanos());
  }
}
