package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HashingTest {

  @Test
  void mixesIdsWithTheFinalizerOfMurmurHash3() {
    assertThat(Hashing.spread(1)).isEqualTo((int) (0xb456bcfc34c2cb2cL >>> 33));
    assertThat(Hashing.spread(0)).as("never 0").isOne();
  }
}
