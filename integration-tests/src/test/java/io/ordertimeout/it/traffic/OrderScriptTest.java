package io.ordertimeout.it.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.traffic.Message.Delivery;
import io.ordertimeout.it.traffic.Message.Input;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What the shop is going to say. */
class OrderScriptTest {

  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00.000123Z");

  @Test
  void theSameSeedWritesTheSame() {
    assertThat(scripts(7, 500)).isEqualTo(scripts(7, 500)).isNotEqualTo(scripts(8, 500));
  }

  @Test
  void everythingIsInIt() {
    List<Message> all = scripts(7, 2_000).stream().flatMap(List::stream).toList();
    assertThat(all).extracting(Message::input).contains(Input.values());
    assertThat(all).extracting(Message::delivery).contains(Delivery.values());
    assertThat(all)
        .filteredOn(message -> message.delivery() == Delivery.PLAIN)
        .allSatisfy(message -> assertThat(message.at()).isAfterOrEqualTo(NOW));
  }

  @Test
  void inARaceManyAreDueAtOnceAndPaidRightThen() {
    Mix mix = Mix.race();
    for (int i = 0; i < 500; i++) {
      List<Message> script = OrderScript.write(new SplittableRandom(i), mix, "order-" + i, NOW);
      assertThat(script).extracting(Message::input).containsExactly(Input.CREATED, Input.PAID);
      long fromWholeSecond = Math.floorMod(script.get(1).at().toEpochMilli() + 500, 1_000L) - 500;
      assertThat(Math.abs(fromWholeSecond)).isLessThanOrEqualTo(mix.aim().toMillis());
      assertThat(script.get(1).at())
          .isBetween(NOW.plus(Duration.ofSeconds(1)), NOW.plus(Duration.ofSeconds(6)));
    }
  }

  private static List<List<Message>> scripts(long seed, int orders) {
    SplittableRandom random = new SplittableRandom(seed);
    List<List<Message>> scripts = new ArrayList<>();
    for (int i = 0; i < orders; i++) {
      scripts.add(OrderScript.write(random.split(), Mix.everything(), "order-" + i, NOW));
    }
    return scripts;
  }
}
