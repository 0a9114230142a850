package io.ordertimeout.orders.benchmarks.traffic;

/**
 * Order ids that are as random as UUIDs to an index, and that can be turned back into the number of
 * their order.
 */
public final class OrderIds {

  /** Odd, so that multiplication by it can be undone. */
  private static final long FACTOR = 0x9E3779B97F4A7C15L;

  private static final long INVERSE = inverse(FACTOR);
  private static final String PREFIX = "order-";

  private OrderIds() {}

  /** Returns the id of the order of that number. */
  public static String of(long number) {
    String digits = Long.toHexString(number * FACTOR);
    return PREFIX + "0".repeat(16 - digits.length()) + digits;
  }

  /** Returns the number of the order with an id that {@link #of} has returned. */
  public static long number(String id) {
    return Long.parseUnsignedLong(id, PREFIX.length(), id.length(), 16) * INVERSE;
  }

  /** By Newton's method, which doubles the number of right bits with each step. */
  private static long inverse(long odd) {
    long inverse = odd;
    for (int bits = 3; bits < Long.SIZE; bits *= 2) {
      inverse *= 2 - odd * inverse;
    }
    return inverse;
  }
}
