package io.ordertimeout.engine;

/** The hash function for ids, which are often sequential or evenly spaced. */
final class Hashing {

  private Hashing() {}

  /** Mixes all bits of an id into a positive 31-bit hash, using the finalizer of MurmurHash3. */
  static int spread(long id) {
    long h = id;
    h = (h ^ (h >>> 33)) * 0xff51afd7ed558ccdL;
    h = (h ^ (h >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return Math.max(1, (int) ((h ^ (h >>> 33)) >>> 33));
  }
}
