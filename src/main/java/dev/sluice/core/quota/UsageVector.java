package dev.sluice.core.quota;

import dev.sluice.core.model.ResourceAmounts;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Sums of amounts by the number of their pair; 0 where nothing was added. A sum that is too large
 * to show is shown as {@link ResourceAmounts#UNLIMITED}, but remembered exactly: when what made it
 * so large is subtracted, it is right again. Confined to one thread.
 */
public final class UsageVector {

  private static final long[] NONE = {};

  /** Each sum modulo 2^64; {@code beyond} counts how often 2^64 is to be added. */
  private long[] sums = NONE;

  private int @Nullable [] beyond;

  /** The sum of a pair, held within the range of {@code long}. */
  public long get(int pair) {
    if (pair >= sums.length) {
      return 0;
    }
    int more = beyond == null ? 0 : beyond[pair];
    if (more == 0) {
      return sums[pair];
    }
    return more > 0 ? ResourceAmounts.UNLIMITED : Long.MIN_VALUE;
  }

  /** One more than the highest number of a pair whose sum may differ from 0. */
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
    if (beyond != null) {
      beyond[pair] = 0;
    }
  }

  /** Forgets all sums. */
  public void clear() {
    Arrays.fill(sums, 0);
    beyond = null;
  }

  private void carry(int pair, int by) {
    if (beyond == null) {
      beyond = new int[sums.length];
    }
    beyond[pair] += by;
  }

  private void ensure(int pair) {
    if (pair >= sums.length) {
      sums = Arrays.copyOf(sums, pair + 1);
      if (beyond != null) {
        beyond = Arrays.copyOf(beyond, pair + 1);
      }
    }
  }
}
