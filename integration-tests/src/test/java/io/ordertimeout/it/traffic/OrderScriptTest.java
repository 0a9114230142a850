package io.ordertimeout.it.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.traffic.ScheduledEvent.Delivery;
import io.ordertimeout.it.traffic.ScheduledEvent.Input;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class OrderScriptTest {

  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00.000123Z");

  @Test
  void theSameSeedWritesTheSameScripts() {
    assertThat(scripts(7, 500)).isEqualTo(scripts(7, 500)).isNotEqualTo(scripts(8, 500));
  }

  @Test
  void scriptsContainEveryInputAndDelivery() {
    List<ScheduledEvent> all = scripts(7, 2_000).stream().flatMap(List::stream).toList();
    assertThat(all).extracting(ScheduledEvent::input).contains(Input.values());
    assertThat(all).extracting(ScheduledEvent::delivery).contains(Delivery.values());
    assertThat(all)
        .filteredOn(event -> event.delivery() == Delivery.PLAIN)
        .allSatisfy(event -> assertThat(event.at()).isAfterOrEqualTo(NOW));
  }

  @Test
  void aRaceHasSharedDeadlinesAndPaymentsCloseToThem() {
    TrafficProfile profile = TrafficProfile.race();
    for (int i = 0; i < 500; i++) {
      List<ScheduledEvent> script =
          OrderScript.write(new SplittableRandom(i), profile, "order-" + i, NOW);
      assertThat(script)
          .extracting(ScheduledEvent::input)
          .containsExactly(Input.CREATED, Input.PAID);
      long fromWholeSecond = Math.floorMod(script.get(1).at().toEpochMilli() + 500, 1_000L) - 500;
      assertThat(Math.abs(fromWholeSecond)).isLessThanOrEqualTo(profile.spread().toMillis());
      assertThat(script.get(1).at())
          .isBetween(NOW.plus(Duration.ofSeconds(1)), NOW.plus(Duration.ofSeconds(6)));
    }
  }

  private static List<List<ScheduledEvent>> scripts(long seed, int orders) {
    SplittableRandom random = new SplittableRandom(seed);
    List<List<ScheduledEvent>> scripts = new ArrayList<>();
    for (int i = 0; i < orders; i++) {
      scripts.add(
          OrderScript.write(random.split(), TrafficProfile.withAllTopics(), "order-" + i, NOW));
    }
    return scripts;
  }
}
