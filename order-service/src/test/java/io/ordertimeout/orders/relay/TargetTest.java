package io.ordertimeout.orders.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxEvent.Envelope;
import io.ordertimeout.orders.outbox.OutboxEvent.PaymentConflict;
import java.time.Duration;
import java.time.Instant;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class TargetTest {

  private static final int WINDOW = 3;

  private final Target target = new Target(new TopicPartition("topic", 0), WINDOW);
  private long now = 1;

  @Test
  void takesEventsUpToTheWindow() {
    for (int i = 0; i < WINDOW; i++) {
      assertThat(target.takes(now)).isTrue();
      target.sent(now);
    }
    assertThat(target.takes(now)).isFalse();
    assertThat(target.isBlocked(now)).as("full is not blocked").isFalse();

    assertThat(target.acknowledged(now)).as("nothing was left behind").isFalse();
    assertThat(target.takes(now)).isTrue();
  }

  @Test
  void afterAFailureOneEventIsSentWhenTheBackOffHasPassedUntilOneIsAcknowledged() {
    OutboxEvent failed = event("first");
    send(failed);
    target.failed(failed, now);
    assertThat(target.leaveBehind(failed)).as("forgotten").isNull();
    assertThat(target.takes(now)).isFalse();
    OutboxEvent next = event("next");
    assertThat(target.leaveBehind(next)).as("forgotten").isEqualTo(next);
    assertThat(target.takeProbe(now, now)).as("before the back-off").isNull();

    pass(Duration.ofMinutes(1));
    assertThat(target.takeProbe(now, now)).isEqualTo(failed);
    target.sent(now);
    assertThat(target.isFailing()).isTrue();
    assertThat(target.takes(now)).isFalse();
    assertThat(target.takeProbe(now, now)).isNull();

    assertThat(target.acknowledged(now)).as("others may be left behind").isTrue();
    assertThat(target.isFailing()).isFalse();
    assertThat(target.takes(now)).isTrue();
  }

  @Test
  void nothingIsSentAgainBeforeALeaderWasSeenSinceTheFailure() {
    OutboxEvent failed = event("order");
    send(failed);
    target.failed(failed, now);
    target.leaveBehind(failed);
    long failedAt = now;
    pass(Duration.ofMinutes(1));

    assertThat(target.takeProbe(now, failedAt)).isNull();
    assertThat(target.takeProbe(now, failedAt + 1)).isEqualTo(failed);
  }

  @Test
  void nothingIsSentAgainBeforeTheOutcomeOfAllIsKnown() {
    OutboxEvent failed = event("order");
    send(failed);
    send(event("another"));
    target.failed(failed, now);
    target.leaveBehind(failed);
    pass(Duration.ofMinutes(1));

    assertThat(target.takeProbe(now, now)).isNull();
  }

  @Test
  void theBackOffGrowsWithEachAttemptThatFails() {
    OutboxEvent event = event("order");
    send(event);
    target.failed(event, now);
    target.leaveBehind(event);
    pass(Duration.ofMillis(600));
    assertThat(target.takeProbe(now, now)).isEqualTo(event);
    target.sent(now);
    target.failed(event, now);
    target.leaveBehind(event);

    pass(Duration.ofMillis(600));
    assertThat(target.takeProbe(now, now)).isNull();
    pass(Duration.ofMillis(600));
    assertThat(target.takeProbe(now, now)).isEqualTo(event);
  }

  @Test
  void anEventThatKeepsFailingLetsThatOfAnotherOrderBeTried() {
    OutboxEvent poison = event("poison");
    send(poison);
    target.failed(poison, now);
    target.leaveBehind(poison);
    OutboxEvent good = event("good");
    assertThat(target.leaveBehind(good)).as("it was not tried again yet").isEqualTo(good);
    pass(Duration.ofMinutes(1));
    assertThat(target.takeProbe(now, now)).isEqualTo(poison);
    target.sent(now);
    target.failed(poison, now);
    target.leaveBehind(poison);

    assertThat(target.leaveBehind(good)).as("replaced").isEqualTo(poison);
    pass(Duration.ofMinutes(1));
    assertThat(target.takeProbe(now, now)).isEqualTo(good);
  }

  @Test
  void aPartitionThatAcknowledgesNothingForAWhileIsBlockedUntilItDoes() {
    send(event("order"));
    pass(Duration.ofSeconds(3));
    assertThat(target.isBlocked(now)).isTrue();
    OutboxEvent next = event("next");
    assertThat(target.leaveBehind(next)).isNull();
    assertThat(target.takeProbe(now, now)).isNull();

    assertThat(target.acknowledged(now)).isFalse();
    assertThat(target.takeProbe(now, now)).isEqualTo(next);
    target.sent(now);
    assertThat(target.acknowledged(now)).as("others may be left behind").isTrue();
  }

  @Test
  void aRejectedEventDoesNotBlockThePartition() {
    send(event("order"));
    target.rejected(now);

    assertThat(target.isFailing()).isFalse();
    assertThat(target.takes(now)).isTrue();
    assertThat(target.inFlight()).isZero();
  }

  @Test
  void withoutAnythingToTryThePartitionIsNotFailing() {
    OutboxEvent event = event("order");
    send(event);
    target.failed(event, now);
    target.leaveBehind(event);
    assertThat(target.isFailing()).isTrue();

    assertThat(target.removeProbe()).isEqualTo(event);
    assertThat(target.isFailing()).isFalse();
    assertThat(target.takes(now)).isTrue();
  }

  private void send(OutboxEvent event) {
    assertThat(event).isNotNull();
    target.sent(now);
  }

  private void pass(Duration time) {
    now += time.toNanos();
  }

  private static OutboxEvent event(String orderId) {
    return new PaymentConflict(
        new Envelope(1, orderId, 0, null, Instant.EPOCH), "payment", null, null, null);
  }
}
