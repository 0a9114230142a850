package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BlocksTest {

  private static final int BITS = 4;
  private static final int LONGS = 1 << BITS;
  private static final long MIB = 1 << 20;

  /** Six longs that fill up the cache line of the header. */
  private static final long MARGIN = 48;

  private final Blocks blocks = new Blocks(BITS);
  private final List<Integer> numbers = new ArrayList<>();

  private void grow(int size) {
    while (numbers.size() < size) {
      int block = blocks.append();
      numbers.add(block);
      assertThat(blocks.last()).isEqualTo(block);
      for (int i = 0; i < LONGS; i++) {
        blocks.set(block * LONGS + i, 1_000L * numbers.size() + i);
      }
    }
  }

  private void shrink(int size) {
    while (numbers.size() > size) {
      assertThat(blocks.last()).isEqualTo(numbers.remove(numbers.size() - 1));
      blocks.removeLast();
    }
  }

  private void check() {
    for (int n = 0; n < numbers.size(); n++) {
      int address = numbers.get(n) * LONGS;
      long[] page = blocks.page(address);
      for (int i = 0; i < LONGS; i++) {
        assertThat(blocks.get(address + i)).isEqualTo(1_000L * (n + 1) + i);
        assertThat(page[Blocks.offset(address) + i]).isEqualTo(1_000L * (n + 1) + i);
      }
    }
  }

  @Test
  void keepsItsContentWhileItGrowsAndShrinks() {
    for (int size :
        new int[] {1, 64, 65, 8_190, 8_191, 8_192, 20_000, 8_192, 8_191, 5_000, 3, 20}) {
      grow(size);
      shrink(size);
      check();
    }
    assertThat(numbers).doesNotHaveDuplicates();
  }

  @Test
  void startsSmallAndGrowsByPagesThatFitOneMebibyteWithTheirHeaders() {
    grow(1);
    assertThat(blocks.bytes()).isEqualTo(8192 + MARGIN);
    grow(8_191);
    assertThat(blocks.bytes()).isEqualTo(MIB - 8 * LONGS + MARGIN);
    grow(8_192);
    assertThat(blocks.bytes()).isEqualTo(2 * (MIB - 8 * LONGS + MARGIN));
  }

  @Test
  void givesPagesBackButKeepsOneThatMaySoonBeNeededAgain() {
    grow(8_192);
    long twoPages = blocks.bytes();
    shrink(8_191);
    assertThat(blocks.bytes()).isEqualTo(twoPages);
    shrink(4_000);
    assertThat(blocks.bytes()).isLessThan(twoPages / 2 + 1);
    shrink(2_000);
    assertThat(blocks.bytes()).isLessThan(twoPages / 3);
    shrink(0);
    assertThat(blocks.bytes()).isEqualTo(8192 + MARGIN);
    grow(10_000);
    check();
  }

  @Test
  void theFirstPageDoublesAndHalves() {
    grow(64);
    assertThat(blocks.bytes()).isEqualTo(8 * 1_024 + MARGIN);
    grow(65);
    assertThat(blocks.bytes()).isEqualTo(8 * 2 * 65 * LONGS + MARGIN);
    shrink(33);
    assertThat(blocks.bytes()).isEqualTo(8 * 2 * 65 * LONGS + MARGIN);
    shrink(32);
    assertThat(blocks.bytes()).isBetween(8L * 65 * LONGS, 8L * 66 * LONGS);
    check();
  }

  @Test
  void givesAPageBackOnceTheOneBeforeIsLessThanHalfFull() {
    long page = MIB - 8 * LONGS + MARGIN;
    grow(8_192);
    shrink(4_096);
    assertThat(blocks.bytes()).isEqualTo(2 * page);
    shrink(4_095);
    assertThat(blocks.bytes()).isEqualTo(page);
    grow(2 * 8_191 + 1);
    assertThat(blocks.bytes()).isEqualTo(3 * page);
    shrink(8_191 + 4_096);
    assertThat(blocks.bytes()).isEqualTo(3 * page);
    shrink(8_191 + 4_095);
    assertThat(blocks.bytes()).isEqualTo(2 * page);
    check();
  }

  @Test
  void copiesAndClearsWholeBlocksOnly() {
    grow(9_000);

    blocks.copy(numbers.get(8_999), numbers.get(1));
    blocks.clear(numbers.get(3));

    for (int i = 0; i < LONGS; i++) {
      assertThat(blocks.get(numbers.get(0) * LONGS + i)).isEqualTo(1_000L + i);
      assertThat(blocks.get(numbers.get(1) * LONGS + i)).isEqualTo(9_000_000L + i);
      assertThat(blocks.get(numbers.get(2) * LONGS + i)).isEqualTo(3_000L + i);
      assertThat(blocks.get(numbers.get(3) * LONGS + i)).isZero();
      assertThat(blocks.get(numbers.get(4) * LONGS + i)).isEqualTo(5_000L + i);
    }
  }
}
