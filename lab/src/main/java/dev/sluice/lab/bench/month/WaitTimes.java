package dev.sluice.lab.bench.month;

/**
 * How long jobs of a kind waited: a histogram whose size doesn't grow, exact to an eighth of the
 * time.
 */
final class WaitTimes {

  private static final int STEPS_PER_DOUBLING = 8;
  private static final int DOUBLINGS = 34;

  private final long[] counts = new long[STEPS_PER_DOUBLING * DOUBLINGS];
  private long count;
  private long most;

  void add(long millis) {
    double doublings = Math.log1p(millis) / Math.log(2);
    counts[Math.min(counts.length - 1, (int) (doublings * STEPS_PER_DOUBLING))]++;
    count++;
    most = Math.max(most, millis);
  }

  long count() {
    return count;
  }

  /** The longest wait, in seconds. */
  double mostSeconds() {
    return most / 1_000.0;
  }

  /** A quantile in seconds; 0 without any. */
  double seconds(double quantile) {
    long rank = (long) Math.ceil(quantile * count);
    long seen = 0;
    for (int i = 0; i < counts.length && rank > 0; i++) {
      seen += counts[i];
      if (seen >= rank) {
        double upTo = Math.pow(2, (i + 1.0) / STEPS_PER_DOUBLING) - 1;
        return Math.min(most, upTo) / 1_000.0;
      }
    }
    return 0;
  }
}
