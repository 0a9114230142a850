package io.ordertimeout.engine;

import java.util.Arrays;

/**
 * A growable store of longs, allocated in blocks of equal size. Growing or shrinking it never
 * copies more than half a page.
 *
 * <p>Blocks are numbered in allocation order, with gaps. The address of a long is its block's
 * number times the block size, plus the offset within the block. A page is one array of almost 1
 * MiB. With its header it fits into a single region of G1 at the smallest region size, so no space
 * is wasted, and it is large enough to be allocated outside the young generation there, so no
 * collection copies it. The first page starts small and doubles, which keeps small wheels small.
 *
 * <p>Confined to one thread. All operations are O(1), except that growing the first page is O(its
 * size).
 */
final class PagedLongs {

  private static final int PAGE_BITS = 17;
  private static final int PAGE_MASK = (1 << PAGE_BITS) - 1;
  private static final int MIN_LENGTH = 1 << 10;

  /**
   * Unused longs at the start of a page. Together with the array header they fill one cache line.
   */
  private static final int PADDING = 6;

  private final int blockBits;

  /**
   * The length of a full page: one block short of a power of two, to leave room for the array
   * header.
   */
  private final int fullLength;

  private long[][] pages = {new long[MIN_LENGTH + PADDING]};

  /** The address after the last block. */
  private int end;

  /** Creates an empty store of blocks of 2^blockBits longs. */
  PagedLongs(int blockBits) {
    this.blockBits = blockBits;
    this.fullLength = (1 << PAGE_BITS) - (1 << blockBits);
  }

  long get(int address) {
    return pages[address >>> PAGE_BITS][offset(address)];
  }

  void set(int address, long value) {
    pages[address >>> PAGE_BITS][offset(address)] = value;
  }

  /**
   * Returns the array that holds the whole block of an address. Valid until a block is added or
   * removed.
   */
  long[] page(int address) {
    return pages[address >>> PAGE_BITS];
  }

  /** Returns the offset of an address within its {@link #page}. */
  static int offset(int address) {
    return (address & PAGE_MASK) + PADDING;
  }

  /**
   * Appends a block and returns its number. The content is zero or left over from an earlier block
   * of the same number. If memory runs out, nothing has changed.
   */
  int appendBlock() {
    int page = end >>> PAGE_BITS;
    int used = (end & PAGE_MASK) + (1 << blockBits);
    if (page == pages.length) {
      pages = Arrays.copyOf(pages, page + 1);
    }
    if (pages[page] == null) {
      pages[page] = new long[fullLength + PADDING];
    } else if (used + PADDING > pages[page].length) {
      pages[page] = Arrays.copyOf(pages[page], Math.min(2 * used, fullLength) + PADDING);
    }
    int block = end >>> blockBits;
    end += 1 << blockBits;
    if (used == fullLength) {
      end = (page + 1) << PAGE_BITS;
    }
    return block;
  }

  /** Returns the number of the last block. There must be one. */
  int lastBlock() {
    int page = end >>> PAGE_BITS;
    int behind = (end & PAGE_MASK) == 0 ? ((page - 1) << PAGE_BITS) + fullLength : end;
    return (behind >>> blockBits) - 1;
  }

  /** Frees the last block. There must be one. */
  void removeLastBlock() {
    end = lastBlock() << blockBits;
    int page = end >>> PAGE_BITS;
    int used = end & PAGE_MASK;
    // Keeps one empty page for a while, so that adding and removing a block at a page boundary does
    // not allocate a page each time.
    if (used < fullLength / 2) {
      for (int beyond = page + 1; beyond < pages.length; beyond++) {
        pages[beyond] = null;
      }
    }
    if (page == 0 && used < pages[0].length / 4 && pages[0].length > MIN_LENGTH + PADDING) {
      pages[0] = Arrays.copyOf(pages[0], Math.max(MIN_LENGTH, pages[0].length / 2) + PADDING);
    }
  }

  /** Copies the content of one block to another. */
  void copyBlock(int from, int to) {
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
  void clearBlock(int block) {
    int start = block << blockBits;
    int from = offset(start);
    Arrays.fill(pages[start >>> PAGE_BITS], from, from + (1 << blockBits), 0);
  }

  /** Returns the memory in use, in bytes. */
  long bytes() {
    long sum = 0;
    for (long[] page : pages) {
      sum += page == null ? 0 : 8L * page.length;
    }
    return sum;
  }
}
