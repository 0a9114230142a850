package io.ordertimeout.orders.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxEvent.Envelope;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderCancelled;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SweptEventsTest {

  private final SweptEvents swept = new SweptEvents();

  @Test
  void countsWhatASweepFindsAndIsNotPublishedSince() {
    sweep(event(0, 1), event(0, 3), event(1, 2));
    assertThat(swept.count(Set.of(0, 1))).isEqualTo(3);

    swept.remove(event(0, 1));
    assertThat(swept.count(Set.of(0, 1))).isEqualTo(2);
    assertThat(swept.count(Set.of(0))).isEqualTo(1);
  }

  @Test
  void eventsThatWereWrittenAfterTheSweepDoNotCount() {
    sweep(event(0, 1));

    swept.remove(event(0, 2));

    assertThat(swept.count(Set.of(0))).isEqualTo(1);
  }

  @Test
  void theLastCountIsValidUntilTheNextSweepIsComplete() {
    sweep(event(0, 1), event(0, 2), event(1, 3));

    swept.beginSweep();
    swept.add(event(0, 1));
    assertThat(swept.count(Set.of(0, 1))).isEqualTo(3);
    swept.remove(event(0, 1));
    swept.add(event(0, 2));
    swept.endSweep();

    assertThat(swept.count(Set.of(0, 1))).isEqualTo(1);
  }

  private void sweep(OutboxEvent... events) {
    swept.beginSweep();
    for (OutboxEvent event : events) {
      swept.add(event);
    }
    swept.endSweep();
  }

  private static OutboxEvent event(int shard, long id) {
    return new OrderCancelled(
        new Envelope(id, "order-" + id, shard, null, Instant.EPOCH),
        Instant.EPOCH,
        Instant.EPOCH,
        Instant.EPOCH);
  }
}
