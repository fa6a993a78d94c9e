package dev.sluice.bench;

import java.util.Arrays;

/** How long something took, many times. Not thread-safe. */
public final class Durations {

  private long[] nanos = new long[1024];
  private int count;
  private boolean sorted;

  /** One more. */
  void add(long duration) {
    if (count == nanos.length) {
      nanos = Arrays.copyOf(nanos, 2 * count);
    }
    nanos[count++] = duration;
    sorted = false;
  }

  /** What was added so far; this one is empty afterwards. */
  Durations take() {
    Durations taken = new Durations();
    taken.nanos = Arrays.copyOf(nanos, Math.max(1, count));
    taken.count = count;
    count = 0;
    return taken;
  }

  /** How many there are. */
  public int count() {
    return count;
  }

  /**
   * The least that is not exceeded by this fraction of them, in milliseconds.
   *
   * @throws IllegalStateException when there is none
   */
  public double millis(double fraction) {
    if (count == 0) {
      throw new IllegalStateException("nothing was measured");
    }
    if (!sorted) {
      Arrays.sort(nanos, 0, count);
      sorted = true;
    }
    return nanos[(int) Math.min(count - 1L, (long) (fraction * count))] / 1e6;
  }
}
