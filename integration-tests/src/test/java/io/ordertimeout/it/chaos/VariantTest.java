package io.ordertimeout.it.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class VariantTest {

  @Test
  void sixConsecutiveSeedsContainEveryValue() {
    for (long first = -8; first < 8; first++) {
      List<Variant> variants = LongStream.range(first, first + 6).mapToObj(Variant::of).toList();
      assertThat(variants).extracting(Variant::protocol).contains(Variant.GroupProtocol.values());
      assertThat(variants).extracting(Variant::intakeThreads).contains(1, 2);
      assertThat(variants).extracting(Variant::producersTime).contains(true, false);
    }
  }

  @Test
  void theSeedDeterminesTheVariant() {
    assertThat(Variant.of(6)).isEqualTo(new Variant(Variant.GroupProtocol.CONSUMER, 2, true));
    assertThat(Variant.of(14)).isEqualTo(Variant.of(6));
  }
}
