package io.ordertimeout.orders.intake;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.intake.GroupDirectory.Group;
import io.ordertimeout.orders.intake.GroupMembership.Claim;
import io.ordertimeout.orders.intake.MembershipCheck.Result;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class MembershipCheckTest {

  private static final TopicPartition PAID_0 = new TopicPartition("order-paid", 0);
  private static final TopicPartition PAID_1 = new TopicPartition("order-paid", 1);
  private static final Group WITHOUT_MEMBER = new Group(Map.of("other", Set.of(PAID_0)), false);
  private static final Group WITH_MEMBER = new Group(Map.of("me", Set.of(PAID_0, PAID_1)), false);

  private final AtomicLong nanos = new AtomicLong();
  private final GroupMembership membership = new GroupMembership(nanos::get);
  private final MembershipCheck check = new MembershipCheck(membership, nanos::get);

  @Test
  void aConsumerThatHasNotJoinedIsNotJudged() {
    assertThat(check.compare(membership.claim(), WITHOUT_MEMBER)).isEqualTo(Result.UNDECIDED);
    assertThat(membership.isConfirmedWithin(Duration.ofDays(1))).isFalse();
  }

  @Test
  void theGroupConfirmsWhatItHasAssigned() {
    poll(PAID_0);
    pass(Duration.ofMinutes(1));
    assertThat(membership.isConfirmedWithin(Duration.ofSeconds(30))).isFalse();

    assertThat(compare(WITH_MEMBER)).isEqualTo(Result.CONFIRMED);
    assertThat(membership.isConfirmedWithin(Duration.ofSeconds(30))).isTrue();
  }

  @Test
  void aMembershipThatIsDeniedForLongIsStale() {
    poll(PAID_0, PAID_1);
    assertThat(compare(WITHOUT_MEMBER)).isEqualTo(Result.DENIED);
    poll(PAID_0, PAID_1);
    poll(PAID_0, PAID_1);
    pass(MembershipCheck.TOLERANCE.minusMillis(1));
    assertThat(compare(WITHOUT_MEMBER)).isEqualTo(Result.DENIED);
    pass(Duration.ofMillis(1));

    assertThat(compare(WITHOUT_MEMBER)).isEqualTo(Result.STALE);
    assertThat(MembershipCheck.denied(claim(), WITHOUT_MEMBER)).containsExactlyInAnyOrder(0, 1);
  }

  @Test
  void aMemberThatClaimsOthersPartitionsIsStale() {
    Group half = new Group(Map.of("me", Set.of(PAID_0)), false);
    poll(PAID_0, PAID_1);
    assertThat(compare(half)).isEqualTo(Result.DENIED);
    assertThat(MembershipCheck.denied(claim(), half)).containsExactly(1);
    poll(PAID_0, PAID_1);
    poll(PAID_0, PAID_1);
    pass(MembershipCheck.TOLERANCE);

    assertThat(compare(half)).isEqualTo(Result.STALE);
  }

  @Test
  void aConsumerThatStoresASlowBatchHasMoreTime() {
    poll(PAID_0);
    assertThat(compare(WITHOUT_MEMBER)).isEqualTo(Result.DENIED);
    pass(MembershipCheck.TOLERANCE_WITHOUT_POLLS.minusMillis(1));
    assertThat(compare(WITHOUT_MEMBER)).isEqualTo(Result.DENIED);
    pass(Duration.ofMillis(1));

    assertThat(compare(WITHOUT_MEMBER)).isEqualTo(Result.STALE);
  }

  @Test
  void aRebalanceIsGivenTime() {
    poll(PAID_0, PAID_1);
    assertThat(compare(WITHOUT_MEMBER)).isEqualTo(Result.DENIED);
    pass(MembershipCheck.TOLERANCE_WITHOUT_POLLS);
    // The group has taken a partition away, as it was about to.
    poll(PAID_1);
    assertThat(compare(WITHOUT_MEMBER)).isEqualTo(Result.DENIED);
    pass(MembershipCheck.TOLERANCE_WITHOUT_POLLS);

    assertThat(compare(new Group(Map.of(), true))).isEqualTo(Result.UNDECIDED);
    assertThat(compare(WITHOUT_MEMBER)).isEqualTo(Result.DENIED);
  }

  @Test
  void aClaimThatChangedMeanwhileIsNotJudged() {
    poll(PAID_0, PAID_1);
    Claim earlier = claim();
    poll(PAID_0);

    assertThat(check.compare(earlier, WITHOUT_MEMBER)).isEqualTo(Result.UNDECIDED);
  }

  private Result compare(Group group) {
    return check.compare(membership.claim(), group);
  }

  private Claim claim() {
    return Objects.requireNonNull(membership.claim());
  }

  private void poll(TopicPartition... assigned) {
    membership.polled("me", Set.of(assigned));
  }

  private void pass(Duration duration) {
    nanos.addAndGet(duration.toNanos());
  }
}
