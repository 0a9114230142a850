package io.ordertimeout.orders.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxEvent.Envelope;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderCancelled;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LeftBehindTest {

  private final LeftBehind leftBehind = new LeftBehind();

  @Test
  void countsWhatASweepFindsAndIsNotPublishedSince() {
    sweep(event(0, 1), event(0, 3), event(1, 2));
    assertThat(leftBehind.count(Set.of(0, 1))).isEqualTo(3);

    leftBehind.published(event(0, 1));
    assertThat(leftBehind.count(Set.of(0, 1))).isEqualTo(2);
    assertThat(leftBehind.count(Set.of(0))).isEqualTo(1);
  }

  @Test
  void eventsThatWereWrittenAfterTheSweepDoNotCount() {
    sweep(event(0, 5));

    leftBehind.published(event(0, 2, Instant.EPOCH.plusSeconds(1)));

    assertThat(leftBehind.count(Set.of(0))).isEqualTo(1);
  }

  @Test
  void theLastCountIsValidUntilTheNextSweepIsComplete() {
    sweep(event(0, 1), event(0, 2), event(1, 3));

    leftBehind.beginSweep();
    leftBehind.found(event(0, 1));
    assertThat(leftBehind.count(Set.of(0, 1))).isEqualTo(3);
    leftBehind.published(event(0, 1));
    leftBehind.found(event(0, 2));
    leftBehind.endSweep();

    assertThat(leftBehind.count(Set.of(0, 1))).isEqualTo(1);
  }

  @Test
  void aRejectedEventCountsUntilItIsPublished() {
    leftBehind.rejected(event(0, 1));
    sweep(event(0, 1));
    assertThat(leftBehind.isAnyRejected()).isTrue();

    leftBehind.published(event(0, 1));
    assertThat(leftBehind.isAnyRejected()).isFalse();
  }

  @Test
  void aRejectedEventCountsUntilASweepDoesNotFindIt() {
    sweep(event(0, 1));
    leftBehind.rejected(event(0, 1));
    leftBehind.endSweep();
    assertThat(leftBehind.isAnyRejected()).as("it was rejected after it was found").isTrue();

    sweep(event(0, 2));
    assertThat(leftBehind.isAnyRejected()).isFalse();
  }

  private void sweep(OutboxEvent... events) {
    leftBehind.beginSweep();
    for (OutboxEvent event : events) {
      leftBehind.found(event);
    }
    leftBehind.endSweep();
  }

  private static OutboxEvent event(int shard, long orderRow) {
    return event(shard, orderRow, Instant.EPOCH);
  }

  private static OutboxEvent event(int shard, long orderRow, Instant writtenAt) {
    return new OrderCancelled(
        new Envelope(orderRow, "order-" + orderRow, shard, null, writtenAt),
        Instant.EPOCH,
        Instant.EPOCH,
        Instant.EPOCH,
        Instant.EPOCH);
  }
}
