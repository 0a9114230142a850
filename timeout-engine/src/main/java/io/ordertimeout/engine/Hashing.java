package io.ordertimeout.engine;

/** Hashing of ids, which tend to be sequential or to share a stride. */
final class Hashing {

  private Hashing() {}

  /** Mixes all bits into 31: the finalizer of MurmurHash3. 1 or more. */
  static int spread(long id) {
    long h = id;
    h = (h ^ (h >>> 33)) * 0xff51afd7ed558ccdL;
    h = (h ^ (h >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return Math.max(1, (int) ((h ^ (h >>> 33)) >>> 33));
  }
}
