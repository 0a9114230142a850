package io.ordertimeout.engine;

import java.util.Arrays;

/**
 * Memory for longs that grows and shrinks by small blocks of equal size, without ever copying more
 * than half a page.
 *
 * <p>Blocks are numbered in the order of their making, with gaps; a long is known by its address:
 * the block's number times its size, plus the place in the block. A page is one array of almost 1
 * MiB: small enough to fit, header included, into a single region of G1 at its smallest, so that
 * nothing is left over there, and large enough to be allocated outside the young generation there,
 * so that no collection copies it. The first page starts small and doubles, for wheels that stay
 * small.
 *
 * <p>Confined to one thread. All operations are O(1), growing the first page O(its size).
 */
final class Blocks {

  private static final int PAGE_BITS = 17;
  private static final int PAGE_MASK = (1 << PAGE_BITS) - 1;
  private static final int MIN_LENGTH = 1 << 10;

  /** Longs left out at the start of a page: with the header of the array they are a cache line. */
  private static final int MARGIN = 6;

  private final int blockBits;

  /** A full page lacks its last block, which makes room for the header of the array. */
  private final int fullLength;

  private long[][] pages = {new long[MIN_LENGTH + MARGIN]};

  /** The address behind the last block. */
  private int end;

  /** Makes room for blocks of 2^blockBits longs, none yet. */
  Blocks(int blockBits) {
    this.blockBits = blockBits;
    this.fullLength = (1 << PAGE_BITS) - (1 << blockBits);
  }

  long get(int address) {
    return pages[address >>> PAGE_BITS][offset(address)];
  }

  void set(int address, long value) {
    pages[address >>> PAGE_BITS][offset(address)] = value;
  }

  /** The array that holds the whole block of this address, until the next change of the blocks. */
  long[] page(int address) {
    return pages[address >>> PAGE_BITS];
  }

  /** Where in its {@link #page} an address is. */
  static int offset(int address) {
    return (address & PAGE_MASK) + MARGIN;
  }

  /**
   * Makes a block behind the last one and returns its number. Its content is what a former block of
   * this number left, or zero. If memory runs out nothing has changed.
   */
  int append() {
    int page = end >>> PAGE_BITS;
    int used = (end & PAGE_MASK) + (1 << blockBits);
    if (page == pages.length) {
      pages = Arrays.copyOf(pages, page + 1);
    }
    if (pages[page] == null) {
      pages[page] = new long[fullLength + MARGIN];
    } else if (used + MARGIN > pages[page].length) {
      pages[page] = Arrays.copyOf(pages[page], Math.min(2 * used, fullLength) + MARGIN);
    }
    int block = end >>> blockBits;
    end += 1 << blockBits;
    if (used == fullLength) {
      end = (page + 1) << PAGE_BITS;
    }
    return block;
  }

  /** The number of the block that was made last; there has to be one. */
  int last() {
    int page = end >>> PAGE_BITS;
    int behind = (end & PAGE_MASK) == 0 ? ((page - 1) << PAGE_BITS) + fullLength : end;
    return (behind >>> blockBits) - 1;
  }

  /** Gives the last block back; there has to be one. */
  void removeLast() {
    end = last() << blockBits;
    int page = end >>> PAGE_BITS;
    int used = end & PAGE_MASK;
    // One empty page is kept for a while, so that a block that comes and goes does not cost a page.
    if (used < fullLength / 2) {
      for (int beyond = page + 1; beyond < pages.length; beyond++) {
        pages[beyond] = null;
      }
    }
    if (page == 0 && used < pages[0].length / 4 && pages[0].length > MIN_LENGTH + MARGIN) {
      pages[0] = Arrays.copyOf(pages[0], Math.max(MIN_LENGTH, pages[0].length / 2) + MARGIN);
    }
  }

  /** Copies the content of a block to another. */
  void copy(int from, int to) {
    int start = from << blockBits;
    int target = to << blockBits;
    System.arraycopy(
        pages[start >>> PAGE_BITS],
        offset(start),
        pages[target >>> PAGE_BITS],
        offset(target),
        1 << blockBits);
  }

  /** Fills a block with zeros. */
  void clear(int block) {
    int start = block << blockBits;
    int from = offset(start);
    Arrays.fill(pages[start >>> PAGE_BITS], from, from + (1 << blockBits), 0);
  }

  /** The memory in use, in bytes. */
  long bytes() {
    long sum = 0;
    for (long[] page : pages) {
      sum += page == null ? 0 : 8L * page.length;
    }
    return sum;
  }
}
