package io.ordertimeout.orders.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxEvent.Envelope;
import io.ordertimeout.orders.outbox.OutboxEvent.PaymentConflict;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class TargetQueueTest {

  private static final int WINDOW = 500;

  private final TargetQueue queue = new TargetQueue(new TopicPartition("topic", 0), WINDOW);
  private long now = 1;

  @Test
  void sendsInOrderUpToTheWindow() {
    add(IntStream.rangeClosed(1, WINDOW + 1));

    List<OutboxEvent> sent = takeAll();
    assertThat(sent).hasSize(WINDOW);
    assertThat(sent).extracting(OutboxEvent::id).isSorted();

    queue.acknowledged(sent.get(0), now);
    assertThat(takeAll()).extracting(OutboxEvent::id).containsExactly(WINDOW + 1L);
  }

  @Test
  void eventsOfAnOrderAreSentOneAfterTheOther() {
    OutboxEvent first = event(1, "order");
    queue.add(first, now);
    queue.add(event(2, "order"), now);

    assertThat(takeAll()).extracting(OutboxEvent::id).containsExactly(1L);
    queue.acknowledged(first, now);
    assertThat(takeAll()).extracting(OutboxEvent::id).containsExactly(2L);
  }

  @Test
  void afterAFailureOneEventAtATimeIsSentUntilOneIsAcknowledged() {
    add(IntStream.rangeClosed(1, 3));
    List<OutboxEvent> sent = takeAll();
    // Nothing is sent before the outcome of all is known, or their order would be lost.
    queue.failed(sent.get(2), now);
    queue.failed(sent.get(0), now);
    pass(Duration.ofMinutes(1));
    assertThat(takeAll()).isEmpty();
    queue.failed(sent.get(1), now);
    assertThat(takeAll()).as("before the back-off has passed").isEmpty();

    pass(Duration.ofMinutes(1));
    List<OutboxEvent> probe = takeAll();
    assertThat(probe).extracting(OutboxEvent::id).containsExactly(1L);
    assertThat(queue.isFailing()).isTrue();
    queue.acknowledged(probe.get(0), now);
    assertThat(queue.isFailing()).isFalse();
    assertThat(takeAll()).extracting(OutboxEvent::id).containsExactly(2L, 3L);
  }

  @Test
  void nothingIsSentAgainBeforeALeaderWasSeenSinceTheFailure() {
    add(IntStream.of(1));
    queue.failed(takeAll().get(0), now);
    long failedAt = now;
    pass(Duration.ofMinutes(1));

    assertThat(queue.take(now, failedAt)).isNull();
    assertThat(queue.take(now, failedAt + 1)).isNotNull();
  }

  @Test
  void anEventThatKeepsFailingLetsThoseOfOtherOrdersPass() {
    queue.add(event(1, "poison"), now);
    queue.add(event(2, "poison"), now);
    queue.add(event(3, "good"), now);
    takeAll().forEach(event -> queue.failed(event, now));
    List<Long> probes = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      pass(Duration.ofMinutes(1));
      OutboxEvent probe = takeAll().get(0);
      probes.add(probe.id());
      queue.failed(probe, now);
    }

    assertThat(probes).containsExactly(1L, 3L, 1L);
  }

  @Test
  void aBlockedQueueKeepsFewEventsAndKnowsThatOthersAreLeftBehind() {
    add(IntStream.rangeClosed(1, 1_000));
    takeAll();
    pass(Duration.ofSeconds(3));
    assertThat(queue.isBlocked(now)).isTrue();

    assertThat(queue.shed(now, event -> event.id() % 2 == 0))
        .hasSize(WINDOW - TargetQueue.BLOCKED_LIMIT);
    assertThat(queue.size()).isEqualTo(TargetQueue.BLOCKED_LIMIT);
    assertThat(queue.isIncomplete()).isTrue();
    assertThat(queue.add(event(2_000, "more"), now)).isFalse();
  }

  @Test
  void aRejectedEventIsDroppedAndTheOthersAreSent() {
    add(IntStream.rangeClosed(1, WINDOW + 1));
    List<OutboxEvent> sent = takeAll();

    queue.rejected(sent.get(0), now);

    assertThat(queue.isFailing()).isFalse();
    assertThat(takeAll()).hasSize(1);
  }

  private void add(IntStream ids) {
    ids.forEach(id -> assertThat(queue.add(event(id, "order-" + id), now)).isTrue());
  }

  private void pass(Duration time) {
    now += time.toNanos();
  }

  private List<OutboxEvent> takeAll() {
    List<OutboxEvent> all = new ArrayList<>();
    for (OutboxEvent next = queue.take(now, now); next != null; next = queue.take(now, now)) {
      all.add(next);
    }
    return all;
  }

  private static OutboxEvent event(long id, String orderId) {
    return new PaymentConflict(
        new Envelope(id, orderId, 0, null, Instant.EPOCH), "payment", null, null, null);
  }
}
