package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PagedLongsTest {

  private static final int BITS = 4;
  private static final int LONGS = 1 << BITS;
  private static final long MIB = 1 << 20;

  /** Six longs that complete the cache line of the header. */
  private static final long PADDING = 48;

  private final PagedLongs longs = new PagedLongs(BITS);
  private final List<Integer> numbers = new ArrayList<>();

  private void grow(int size) {
    while (numbers.size() < size) {
      int block = longs.appendBlock();
      numbers.add(block);
      assertThat(longs.lastBlock()).isEqualTo(block);
      for (int i = 0; i < LONGS; i++) {
        longs.set(block * LONGS + i, 1_000L * numbers.size() + i);
      }
    }
  }

  private void shrink(int size) {
    while (numbers.size() > size) {
      assertThat(longs.lastBlock()).isEqualTo(numbers.remove(numbers.size() - 1));
      longs.removeLastBlock();
    }
  }

  private void check() {
    for (int n = 0; n < numbers.size(); n++) {
      int address = numbers.get(n) * LONGS;
      long[] page = longs.page(address);
      for (int i = 0; i < LONGS; i++) {
        long expected = 1_000L * (n + 1) + i;
        // Plain comparisons, because there are hundreds of thousands of them.
        if (longs.get(address + i) != expected
            || page[PagedLongs.offset(address) + i] != expected) {
          throw new AssertionError("wrong content at " + (address + i) + " instead of " + expected);
        }
      }
    }
  }

  @Test
  void keepsItsContentWhileGrowingAndShrinking() {
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
    assertThat(longs.bytes()).isEqualTo(8192 + PADDING);
    grow(8_191);
    assertThat(longs.bytes()).isEqualTo(MIB - 8 * LONGS + PADDING);
    grow(8_192);
    assertThat(longs.bytes()).isEqualTo(2 * (MIB - 8 * LONGS + PADDING));
  }

  @Test
  void freesPagesButKeepsOneSpare() {
    grow(8_192);
    long twoPages = longs.bytes();
    shrink(8_191);
    assertThat(longs.bytes()).isEqualTo(twoPages);
    shrink(4_000);
    assertThat(longs.bytes()).isLessThan(twoPages / 2 + 1);
    shrink(2_000);
    assertThat(longs.bytes()).isLessThan(twoPages / 3);
    shrink(0);
    assertThat(longs.bytes()).isEqualTo(8192 + PADDING);
    grow(10_000);
    check();
  }

  @Test
  void firstPageDoublesAndHalves() {
    grow(64);
    assertThat(longs.bytes()).isEqualTo(8 * 1_024 + PADDING);
    grow(65);
    assertThat(longs.bytes()).isEqualTo(8 * 2 * 65 * LONGS + PADDING);
    shrink(33);
    assertThat(longs.bytes()).isEqualTo(8 * 2 * 65 * LONGS + PADDING);
    shrink(32);
    assertThat(longs.bytes()).isBetween(8L * 65 * LONGS, 8L * 66 * LONGS);
    check();
  }

  @Test
  void freesAPageOnceThePreviousOneIsLessThanHalfFull() {
    long page = MIB - 8 * LONGS + PADDING;
    grow(8_192);
    shrink(4_096);
    assertThat(longs.bytes()).isEqualTo(2 * page);
    shrink(4_095);
    assertThat(longs.bytes()).isEqualTo(page);
    grow(2 * 8_191 + 1);
    assertThat(longs.bytes()).isEqualTo(3 * page);
    shrink(8_191 + 4_096);
    assertThat(longs.bytes()).isEqualTo(3 * page);
    shrink(8_191 + 4_095);
    assertThat(longs.bytes()).isEqualTo(2 * page);
    check();
  }

  @Test
  void copiesAndClearsWholeBlocksOnly() {
    grow(9_000);

    longs.copyBlock(numbers.get(8_999), numbers.get(1));
    longs.clearBlock(numbers.get(3));

    for (int i = 0; i < LONGS; i++) {
      assertThat(longs.get(numbers.get(0) * LONGS + i)).isEqualTo(1_000L + i);
      assertThat(longs.get(numbers.get(1) * LONGS + i)).isEqualTo(9_000_000L + i);
      assertThat(longs.get(numbers.get(2) * LONGS + i)).isEqualTo(3_000L + i);
      assertThat(longs.get(numbers.get(3) * LONGS + i)).isZero();
      assertThat(longs.get(numbers.get(4) * LONGS + i)).isEqualTo(5_000L + i);
    }
  }
}
