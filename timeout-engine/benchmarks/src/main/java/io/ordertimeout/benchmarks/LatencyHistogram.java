package io.ordertimeout.benchmarks;

/** A histogram of durations with a relative error of 1/32, in constant memory. */
final class LatencyHistogram {

  private static final int SUB_BITS = 5;
  private static final int SUBS = 1 << SUB_BITS;

  private final long[] counts = new long[(Long.SIZE - SUB_BITS) * SUBS];
  private long total;
  private long maxNanos;

  void record(long nanos) {
    counts[bucket(Math.max(nanos, 0))]++;
    total++;
    maxNanos = Math.max(maxNanos, nanos);
  }

  /** Returns the smallest duration that at least this share of all durations does not exceed. */
  double micros(double share) {
    long rank = (long) Math.ceil(share * total);
    long seen = 0;
    for (int bucket = 0; bucket < counts.length; bucket++) {
      seen += counts[bucket];
      if (seen >= rank && seen > 0) {
        return Math.min(upperNanos(bucket), maxNanos) / 1e3;
      }
    }
    return 0;
  }

  double maxMicros() {
    return maxNanos / 1e3;
  }

  private static int bucket(long nanos) {
    if (nanos < SUBS) {
      return (int) nanos;
    }
    int shift = Long.SIZE - 1 - Long.numberOfLeadingZeros(nanos) - SUB_BITS;
    return ((shift + 1) << SUB_BITS) + (int) ((nanos >>> shift) & (SUBS - 1));
  }

  private static long upperNanos(int bucket) {
    int row = bucket >>> SUB_BITS;
    long sub = bucket & (SUBS - 1);
    return row == 0 ? sub : ((sub + SUBS + 1) << (row - 1)) - 1;
  }
}
