package dev.sluice.core.quota;

import dev.sluice.core.model.ResourceAmounts;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Sums of amounts by the number of their pair; 0 for a pair without amounts. A sum beyond the range
 * of {@code long} reads as {@link ResourceAmounts#UNLIMITED}, but is kept exactly: subtracting
 * restores the correct value. Confined to one thread.
 */
public final class UsageVector {

  private static final long[] NONE = {};

  /** Each sum modulo 2^64; {@code overflows} contains the factor of 2^64 to add. */
  private long[] sums = NONE;

  private int @Nullable [] overflows;

  /** The sum of a pair, clamped to the range of {@code long}. */
  public long get(int pair) {
    if (pair >= sums.length) {
      return 0;
    }
    int overflow = overflows == null ? 0 : overflows[pair];
    if (overflow == 0) {
      return sums[pair];
    }
    return overflow > 0 ? ResourceAmounts.UNLIMITED : Long.MIN_VALUE;
  }

  /** One more than the highest number of a pair whose sum may not be 0. */
  int size() {
    return sums.length;
  }

  /** Adds to the sum of a pair. */
  public void add(int pair, long amount) {
    ensure(pair);
    long before = sums[pair];
    sums[pair] = before + amount;
    if (((before ^ sums[pair]) & (amount ^ sums[pair])) < 0) {
      carry(pair, before < 0 ? -1 : 1);
    }
  }

  /** Subtracts from the sum of a pair. */
  public void subtract(int pair, long amount) {
    ensure(pair);
    long before = sums[pair];
    sums[pair] = before - amount;
    if (((before ^ amount) & (before ^ sums[pair])) < 0) {
      carry(pair, before < 0 ? -1 : 1);
    }
  }

  /** Sets the sum of a pair. */
  public void set(int pair, long sum) {
    ensure(pair);
    sums[pair] = sum;
    if (overflows != null) {
      overflows[pair] = 0;
    }
  }

  /** Resets all sums to 0. */
  public void clear() {
    Arrays.fill(sums, 0);
    overflows = null;
  }

  private void carry(int pair, int by) {
    if (overflows == null) {
      overflows = new int[sums.length];
    }
    overflows[pair] += by;
  }

  private void ensure(int pair) {
    if (pair >= sums.length) {
      sums = Arrays.copyOf(sums, pair + 1);
      if (overflows != null) {
        overflows = Arrays.copyOf(overflows, pair + 1);
      }
    }
  }
}
